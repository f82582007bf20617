#include "libmini/distributed/collectives/recursive_doubling.hpp"

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
