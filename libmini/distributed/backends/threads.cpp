#include "libmini/distributed/backends/threads.hpp"

#include <sys/socket.h>

#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <utility>

#include "libmini/distributed/backends/transport_backend.hpp"
#include "libmini/distributed/group/subgroup.hpp"
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
        throw UsageError(
            concat("the world size is ", world_size, "; it must be 1 or more"));

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

namespace {

// The subgroups of one group. The ranks, which are threads of one process, share this
// object: the first member of a subgroup makes the transports of all members, and each
// member takes its own.
class Subgroups {
  public:
    struct Subgroup {
        std::vector<std::unique_ptr<GroupTransport>> transports;  // by rank
        std::shared_ptr<Subgroups> subgroups = std::make_shared<Subgroups>();
    };

    /// Makes the subgroup of the `number`-th call of new_group.
    void make(uint64_t number, int world_size) {
        Subgroup made{make_threads_transports(world_size)};
        const std::lock_guard lock(mutex_);
        made_[number] = std::move(made);
    }

    /// Returns the backend of rank `rank` of that subgroup. REQUIRES: make() has returned.
    std::unique_ptr<Backend> take(uint64_t number, int rank);

  private:
    std::mutex mutex_;
    std::map<uint64_t, Subgroup> made_;  // by number of the call
};

// Returns the function that creates subgroups of a group, for one of its ranks.
Splitter threads_splitter(const std::shared_ptr<Subgroups>& subgroups) {
    return [subgroups, calls = uint64_t{0}](
               const std::vector<int>& ranks,
               ProcessGroup& parent) mutable -> std::unique_ptr<Backend> {
        const int index = index_among(ranks, parent);
        const uint64_t number = calls++;
        if (index == 0) subgroups->make(number, static_cast<int>(ranks.size()));
        parent.barrier();
        return index < 0 ? nullptr : subgroups->take(number, index);
    };
}

std::unique_ptr<Backend> Subgroups::take(uint64_t number, int rank) {
    const std::lock_guard lock(mutex_);
    Subgroup& made = made_.at(number);
    return std::make_unique<TransportBackend>(
        "threads", std::move(made.transports[static_cast<size_t>(rank)]),
        std::vector<int>{}, threads_splitter(made.subgroups));
}

}  // namespace

std::vector<std::shared_ptr<QueuedGroup>> make_threads_groups(
    int world_size, std::chrono::milliseconds timeout) {
    std::vector<std::shared_ptr<QueuedGroup>> groups;
    const auto subgroups = std::make_shared<Subgroups>();
    for (auto& transport : make_threads_transports(world_size))
        groups.push_back(std::make_shared<QueuedGroup>(
            std::make_unique<TransportBackend>("threads", std::move(transport),
                                               std::vector<int>{},
                                               threads_splitter(subgroups)),
            timeout));
    return groups;
}

}  // namespace mini::dist
