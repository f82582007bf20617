#include "libmini/distributed/collectives/ring_reduce_scatter.hpp"

#include <algorithm>
#include <vector>

#include "libmini/distributed/collectives/reduce.hpp"

namespace mini::dist {

void ring_reduce_scatter(Transport& transport, Elements output,
                         std::span<const Elements> inputs, ReduceOp op) {
    const int P = transport.world_size(), rank = transport.rank();
    const int right = (rank + 1) % P;
    const int left = (rank + P - 1) % P;

    // In place, `output` is inputs[rank], which only the last step reads: keep a copy.
    std::vector<Elements> blocks(inputs.begin(), inputs.end());
    std::vector<std::byte> own;
    Elements& mine = blocks[static_cast<size_t>(rank)];
    if (mine.bytes.data() == output.bytes.data()) {
        own.assign(mine.bytes.begin(), mine.bytes.end());
        mine.bytes = own;
    }
    // Returns block k modulo P.
    const auto block = [&](int k) { return blocks[static_cast<size_t>((k + P) % P)]; };

    // Send the block that was received last, and combine the next received block with
    // this rank's block of the same index.
    const Combine combine = combine_for(output.dtype, op);
    const Elements first = block(rank - 1);
    std::vector<std::byte> outgoing(first.bytes.begin(), first.bytes.end());
    prepare_reduce({outgoing, output.dtype}, P, op);
    for (int step = 0; step < P - 1; ++step) {
        std::ranges::copy(block(rank - step - 2).bytes, output.bytes.begin());
        prepare_reduce(output, P, op);
        transport.send_recv(right, outgoing, left, output.bytes, combine);
        if (step < P - 2) std::ranges::copy(output.bytes, outgoing.begin());
    }
    if (P == 1) std::ranges::copy(outgoing, output.bytes.begin());
    finish_reduce(output, P, op);
}

}  // namespace mini::dist
