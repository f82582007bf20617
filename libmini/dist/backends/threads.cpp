#include "libmini/dist/backends/threads.hpp"

#include "libmini/dist/threads_transport.hpp"

namespace mini::dist {

std::vector<std::shared_ptr<TransportGroup>> make_threads_groups(
    int world_size, std::chrono::milliseconds timeout) {
    if (world_size < 1)
        throw UsageError(
            concat("the world size is ", world_size, "; it must be 1 or more"));
    const auto hub = std::make_shared<ThreadsHub>(world_size);
    std::vector<std::shared_ptr<TransportGroup>> groups;
    for (int rank = 0; rank < world_size; ++rank)
        groups.push_back(std::make_shared<TransportGroup>(
            "threads", std::make_unique<ThreadsTransport>(hub, rank), timeout));
    return groups;
}

}  // namespace mini::dist
