#include "libmini/dist/backends/threads.hpp"

#include <sys/socket.h>

#include <cerrno>
#include <chrono>
#include <utility>

#include "libmini/dist/backends/transport_backend.hpp"
#include "libmini/dist/ring_channel.hpp"

namespace mini::dist {
namespace {

std::pair<Socket, Socket> make_socket_pair() {
    int ends[2];
    constexpr int kType = SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC;
    MINI_CHECK(::socketpair(AF_UNIX, kType, 0, ends) == 0,
               system_message("socketpair", errno),
               "; every two ranks need two descriptors: use fewer ranks, or raise "
               "ulimit -n");
    return {Socket(ends[0]), Socket(ends[1])};
}

}  // namespace

std::vector<std::unique_ptr<Transport>> make_threads_transports(int world_size) {
    if (world_size < 1)
        throw UsageError(
            concat("the world size is ", world_size, "; it must be 1 or more"));

    // Connect each two ranks.
    const auto P = static_cast<size_t>(world_size);
    std::vector<std::vector<MessageStream>> streams(P);
    for (auto& row : streams) row.resize(P);
    for (size_t a = 0; a < P; ++a)
        for (size_t b = a + 1; b < P; ++b) {
            auto [one, other] = make_socket_pair();
            const auto memory = allocate_memory(RingChannel::memory_bytes());
            streams[a][b] = MessageStream(std::make_unique<RingChannel>(
                std::move(one), memory, RingChannel::Side::kFirst));
            streams[b][a] = MessageStream(std::make_unique<RingChannel>(
                std::move(other), memory, RingChannel::Side::kSecond));
        }

    std::vector<std::unique_ptr<Transport>> transports;
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
                                               make_threads_splitter()),
            timeout));
    return groups;
}

}  // namespace mini::dist
