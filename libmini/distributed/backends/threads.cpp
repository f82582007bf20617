#include "libmini/distributed/backends/threads.hpp"

#include <sys/socket.h>

#include <cerrno>
#include <chrono>
#include <cstddef>
#include <utility>

#include "libmini/distributed/backends/ring.hpp"
#include "libmini/distributed/backends/transport_backend.hpp"
#include "libmini/distributed/transport/ring_channel.hpp"

namespace mini::dist {
namespace {

std::pair<Socket, Socket> make_socket_pair() {
    int ends[2];
    constexpr int kType = SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC;
    MINI_CHECK(::socketpair(AF_UNIX, kType, 0, ends) == 0,
               system_message("socketpair", errno),
               "; each pair of ranks needs two descriptors: use fewer ranks, or raise "
               "ulimit -n");
    return {Socket(ends[0]), Socket(ends[1])};
}

}  // namespace

std::vector<std::unique_ptr<GroupTransport>> make_threads_transports(int world_size) {
    if (world_size < 1)
        throw UsageError("the world size is ", world_size, "; it must be 1 or more");

    // Connect each pair of ranks.
    const auto P = static_cast<size_t>(world_size);
    std::vector<std::vector<MessageStream>> streams(P);
    for (auto& row : streams) row.resize(P);
    for (size_t a = 0; a < P; ++a)
        for (size_t b = a + 1; b < P; ++b) {
            auto [one, other] = make_socket_pair();
            const auto memory =
                std::make_shared<Memory>(-1, RingChannel::memory_bytes(world_size));
            streams[a][b] = MessageStream(std::make_unique<RingChannel>(
                std::move(one), memory, RingChannel::Side::kFirst, world_size));
            streams[b][a] = MessageStream(std::make_unique<RingChannel>(
                std::move(other), memory, RingChannel::Side::kSecond, world_size));
        }

    std::vector<std::unique_ptr<GroupTransport>> transports;
    for (size_t rank = 0; rank < P; ++rank)
        transports.push_back(std::make_unique<MeshTransport>(static_cast<int>(rank),
                                                             std::move(streams[rank])));
    return transports;
}

std::vector<std::shared_ptr<QueuedGroup>> make_threads_groups(
    int world_size, std::chrono::milliseconds timeout) {
    std::vector<std::shared_ptr<QueuedGroup>> groups;
    for (auto& transport : make_threads_transports(world_size))
        groups.push_back(std::make_shared<QueuedGroup>(
            std::make_unique<TransportBackend>("threads", std::move(transport),
                                               std::vector<int>{},
                                               splitter_on_this_host("threads")),
            timeout));
    return groups;
}

}  // namespace mini::dist
