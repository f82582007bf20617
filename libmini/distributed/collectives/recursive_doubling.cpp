// All-reduce by recursive doubling: in rounds 0, 1, 2, ... every rank exchanges its whole
// buffer with rank XOR 1, rank XOR 2, rank XOR 4, ..., and both combine the two buffers.
//
//     P = 4     round 0     0 <-> 1   2 <-> 3      sums of two buffers
//               round 1     0 <-> 2   1 <-> 3      sums of four buffers
//
// log2 P rounds of the whole buffer. No algorithm needs fewer rounds, so recursive
// doubling is the fastest for small buffers. Both partners compute (lower rank's data) op
// (higher rank's data), in this order, so the results are bitwise identical on all ranks.
// If P is not a power of two, the other ranks are folded in (fold.hpp).

#include "libmini/distributed/collectives/all_reduce.hpp"

#include <algorithm>
#include <vector>

#include "libmini/distributed/collectives/fold.hpp"

namespace mini::dist {

void recursive_doubling_all_reduce(Transport& transport, Elements data, ReduceOp op) {
    const int rank = transport.rank();
    const Combine combine = combine_for(data.dtype, op);
    std::vector<std::byte> theirs(data.bytes.size());
    prepare_reduce(data, transport.world_size(), op);
    fold_to_power_of_two(transport, data, op, [&](int Q) {
        // [lab11.4] Exchange whole buffers with partners that are 1, 2, 4, ... away.
        for (int bit = 1; bit < Q; bit *= 2) {
            const int partner = rank ^ bit;
            transport.send_recv(partner, data.bytes, partner, theirs);
            if (rank < partner) {
                combine.apply(data.bytes.data(), theirs.data(), data.size());
            } else {
                combine.apply(theirs.data(), data.bytes.data(), data.size());
                std::ranges::copy(theirs, data.bytes.begin());
            }
        }
        // [lab11.4]
        finish_reduce(data, transport.world_size(), op);
    });
}

}  // namespace mini::dist
