#include "libmini/distributed/collectives/gather_scatter.hpp"

namespace mini::dist {
void gather_blocks(Transport& transport, std::span<const Elements> outputs,
                   Elements input, int root) {
    if (transport.rank() != root) return transport.send(root, input.bytes);
    copy(outputs[static_cast<size_t>(root)], input);
    for (int rank = 0; rank < transport.world_size(); ++rank)
        if (rank != root) transport.recv(rank, outputs[static_cast<size_t>(rank)].bytes);
}

void scatter_blocks(Transport& transport, Elements output,
                    std::span<const Elements> inputs, int root) {
    if (transport.rank() != root) return transport.recv(root, output.bytes);
    copy(output, inputs[static_cast<size_t>(root)]);
    for (int rank = 0; rank < transport.world_size(); ++rank)
        if (rank != root) transport.send(rank, inputs[static_cast<size_t>(rank)].bytes);
}

void exchange_blocks(Transport& transport, std::span<const Elements> outputs,
                     std::span<const Elements> inputs) {
    const int P = transport.world_size(), rank = transport.rank();
    const auto at = [](auto blocks, int k) { return blocks[static_cast<size_t>(k)]; };
    copy(at(outputs, rank), at(inputs, rank));
    for (int step = 1; step < P; ++step) {
        const int to = (rank + step) % P, from = (rank + P - step) % P;
        transport.send_recv(to, at(inputs, to).bytes, from, at(outputs, from).bytes);
    }
}

}  // namespace mini::dist
