// Simulated ranks with the transport that real ranks have: MeshTransport, its failure detector
// and its deadlines run unchanged, on simulated connections and in virtual time.
//
//     collectives, MeshTransport, FailureDetector, MessageStream     the real code
//     SimulatedChannel, SimulatedTime                                in place of sockets and clock
//     Network, Scheduler                                             links, events, fibers
//
// A step is one resumption of a rank: what it does between two waits. Faults happen between
// steps, so that with one seed a fault at step n always meets the same state of all ranks.

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "libmini/distributed/net/failure.hpp"
#include "libmini/distributed/net/time_source.hpp"
#include "libmini/distributed/simulation/network.hpp"
#include "libmini/distributed/simulation/scheduler.hpp"
#include "libmini/distributed/simulation/simulated_time.hpp"
#include "libmini/distributed/transport/links.hpp"
#include "libmini/distributed/transport/transport.hpp"

namespace mini::dist {

/// How a rank's body ended.
struct RankEnd {
    /// kStuck: it still waited when nothing else was to happen.
    enum class How : uint8_t { kReturned, kThrew, kKilled, kStuck };

    How how = How::kStuck;
    std::optional<Failure> failure;  // kThrew
    VirtualTime time{};              // when it ended
};

/// One run of one job. Only one may exist at a time, since it replaces the time source.
class MeshCluster {
  public:
    MeshCluster(int world_size, Links links, uint64_t seed);
    ~MeshCluster();
    MeshCluster(const MeshCluster&) = delete;
    MeshCluster& operator=(const MeshCluster&) = delete;

    /// Runs `body` on every rank and returns how each ended, by rank. A rank whose body throws
    /// an Error leaves the group with it, as a process group does.
    std::vector<RankEnd> run(const std::function<void(GroupTransport&)>& body);

    /// Called before each step, with its number, counted from 0: the moment for faults.
    void set_on_step(std::function<void(size_t step)> on_step) {
        on_step_ = std::move(on_step);
    }

    VirtualTime now() const { return scheduler_.now(); }

    // Faults. REQUIRES of all: called from on_step.

    /// The rank's process is killed; without effect when its body has ended. With
    /// `loses_bytes`, bytes on their way to other ranks are lost.
    void kill(int rank, bool loses_bytes);

    /// The rank does not run for this long, as a process that is stopped and continued.
    void pause(int rank, VirtualTime time);

    /// From now on each step of the rank begins this much later.
    void slow_down(int rank, VirtualTime time) { delay_[index(rank)] = time; }

    /// Bytes from one rank to another do not arrive until release().
    void hold(int from, int to) { network_.hold(from, to); }
    void release(int from, int to) { network_.release(from, to); }

  private:
    static size_t index(int rank) { return static_cast<size_t>(rank); }
    bool before_step(int rank);
    void run_rank(int rank, const std::function<void(GroupTransport&)>& body);

    const int world_size_;
    const Links links_;
    Scheduler scheduler_;
    Network network_;
    SimulatedTime time_;
    TimeSourceGuard guard_;
    std::function<void(size_t)> on_step_;
    size_t steps_ = 0;
    std::vector<RankEnd> ends_;                              // by rank
    std::vector<VirtualTime> paused_until_;                  // by rank
    std::vector<VirtualTime> delay_;                         // by rank
    std::vector<std::optional<VirtualTime>> delayed_until_;  // by rank: its next step
};

}  // namespace mini::dist
