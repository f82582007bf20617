// Simulated processes: the real code of libmini/distributed, in virtual time.
//
//     the real code       rendezvous, store, mesh, queues, collectives, failure detector
//     SimulatedSystem     replaces sockets, the clock and threads
//     Network             links
//     Scheduler           events and fibers
//
// A step is the work of one task between two waits. Faults happen between steps: with the
// same seed, a fault at step n always meets the same state of all processes.
//
// A killed process is isolated: its sockets close, and no data that it sends later
// reaches another process. Its code continues to its end, so that its destructors run.

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "libmini/distributed/net/failure.hpp"
#include "libmini/distributed/net/system.hpp"
#include "libmini/distributed/transport/message_stream.hpp"
#include "libmini/distributed/transport/transport.hpp"
#include "libmini/extras/simulation/network.hpp"
#include "libmini/extras/simulation/scheduler.hpp"
#include "libmini/extras/simulation/simulated_system.hpp"

namespace mini::dist {

/// How a process ended.
struct ProcessEnd {
    /// kStuck: the process still waited when no event was left, or after kMostSteps.
    enum class How : uint8_t { kReturned, kThrew, kKilled, kStuck };

    How how = How::kStuck;
    std::optional<Failure> failure;  // kThrew
    VirtualTime time{};              // when it ended
};

/// One run of one job. REQUIRES: at most one exists at a time, because each replaces the
/// system.
class ProcessCluster {
  public:
    /// Creates one process for each rank; `links` decides which ranks share a host.
    ProcessCluster(int process_count, Links links, uint64_t seed);

    /// Creates one process for each entry of `hosts`, which is the index of the process's
    /// host, counted from 0. There may be more processes than ranks.
    ProcessCluster(std::vector<int> hosts, Links links, uint64_t seed);
    ~ProcessCluster();
    ProcessCluster(const ProcessCluster&) = delete;
    ProcessCluster& operator=(const ProcessCluster&) = delete;

    /// Runs `body` in every process; blocks until each has ended or is stuck. Returns how
    /// each process ended, by index. The log is off meanwhile.
    std::vector<ProcessEnd> run(const std::function<void(int process)>& body);

    /// Sets a function that is called before each step, with the step's number, counted
    /// from 0. The function may cause faults.
    void set_on_step(std::function<void(size_t step)> on_step) {
        on_step_ = std::move(on_step);
    }

    /// Calls `action` at virtual time `when`, or at now() if that is later. `action` may
    /// cause or end faults.
    void at(VirtualTime when, std::function<void()> action) {
        scheduler_.at(std::max(when, now()), 0, std::move(action));
    }

    int process_count() const { return static_cast<int>(ends_.size()); }
    VirtualTime now() const { return scheduler_.now(); }
    SimulatedSystem& system() { return system_; }

    /// Returns the number of steps; a step that a fault postpones counts each time. A job
    /// is stopped after kMostSteps, and its remaining processes are stuck.
    size_t steps() const { return steps_; }
    static constexpr size_t kMostSteps = 200'000;

    // Faults. REQUIRES: called by the function of set_on_step() or by an action of at().

    /// Kills the process; `loss` decides how much of its data in flight is lost. Does
    /// nothing if the process has ended.
    void kill(int process, Loss loss);

    /// Pauses the process for `time`, as SIGSTOP and a later SIGCONT would.
    void pause(int process, VirtualTime time) {
        paused_until_[index(process)] = now() + time;
    }

    /// Delays each later step of the process by `time`.
    void slow_down(int process, VirtualTime time) { delay_[index(process)] = time; }

    /// Holds the messages from process `from` to process `to` until release().
    void hold(int from, int to) { network_.hold(from, to); }
    void release(int from, int to) { network_.release(from, to); }

    /// Breaks the connections between two processes.
    void cut(int a, int b) { system_.cut(a, b); }

    /// Makes the next send or receive of the process throw std::bad_alloc.
    void fail_allocation(int process) { system_.fail_allocation(process); }

  private:
    static size_t index(int process) { return static_cast<size_t>(process); }
    bool before_step(int task);
    void run_process(int process, const std::function<void(int process)>& body);

    const Links links_;
    Scheduler scheduler_;
    Network network_;
    SimulatedSystem system_;
    SystemGuard system_guard_;
    std::function<void(size_t)> on_step_;
    size_t steps_ = 0;
    std::vector<ProcessEnd> ends_;
    std::vector<VirtualTime> paused_until_;                  // by process
    std::vector<VirtualTime> delay_;                         // by process
    std::vector<std::optional<VirtualTime>> delayed_until_;  // of next steps, by task
};

/// Connects each pair of processes. Returns the streams by rank and by peer.
std::vector<std::vector<MessageStream>> connect_all(ProcessCluster& cluster);

/// Runs `body` in every process, with the MeshTransport of rank r in process r: ranks that
/// are connected from the start, as after a rendezvous, but without the queues of a process
/// group. If `body` throws, the rank leaves the group and reports the failure to the other
/// ranks, as a process group does. Returns how each process ended.
std::vector<ProcessEnd> run_mesh(ProcessCluster& cluster,
                                 const std::function<void(GroupTransport&)>& body);

}  // namespace mini::dist
