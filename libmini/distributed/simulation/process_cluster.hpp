// Simulated processes: the real code of the distributed half, in virtual time.
//
//     rendezvous, store, mesh, queues, collectives, failure detector     the real code
//     SimulatedSystem, SimulatedTime                   in place of sockets, threads and clock
//     Network, Scheduler                               links, events, fibers
//
// A step is one resumption of a task: what it does between two waits. Faults happen between
// steps, so that with one seed a fault at step n always meets the same state of all processes.
//
// A process that is killed is cut off: its sockets close, and nothing that it does from then
// on reaches another process. Its code runs on until it ends, unseen, so that its destructors
// run.

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
#include "libmini/distributed/net/time_source.hpp"
#include "libmini/distributed/simulation/network.hpp"
#include "libmini/distributed/simulation/scheduler.hpp"
#include "libmini/distributed/simulation/simulated_system.hpp"
#include "libmini/distributed/simulation/simulated_time.hpp"

namespace mini::dist {

/// How a process ended.
struct ProcessEnd {
    /// kStuck: it still waited when nothing else was to happen.
    enum class How : uint8_t { kReturned, kThrew, kKilled, kStuck };

    How how = How::kStuck;
    std::optional<Failure> failure;  // kThrew
    VirtualTime time{};              // when it ended
};

/// One run of one job. Only one may exist at a time, since it replaces the time source and
/// the system.
class ProcessCluster {
  public:
    /// One process for each rank; the links say which share a host.
    ProcessCluster(int process_count, Links links, uint64_t seed);

    /// The same, with further processes: `hosts` holds the host of each process, from 0.
    ProcessCluster(std::vector<int> hosts, Links links, uint64_t seed);
    ~ProcessCluster();
    ProcessCluster(const ProcessCluster&) = delete;
    ProcessCluster& operator=(const ProcessCluster&) = delete;

    /// Runs `body` in every process and returns how each ended. Logs nothing meanwhile.
    std::vector<ProcessEnd> run(const std::function<void(int process)>& body);

    /// Called before each step, with its number, counted from 0: the moment for faults.
    void set_on_step(std::function<void(size_t step)> on_step) {
        on_step_ = std::move(on_step);
    }

    /// Calls `action` at virtual time `when`: for faults that end.
    void at(VirtualTime when, std::function<void()> action) {
        scheduler_.at(std::max(when, now()), 0, std::move(action));
    }

    int process_count() const { return static_cast<int>(ends_.size()); }
    VirtualTime now() const { return scheduler_.now(); }
    SimulatedSystem& system() { return system_; }

    /// How many tasks have been resumed. A job that never ends is stopped after
    /// kMostSteps, and its processes are stuck.
    size_t steps() const { return steps_; }
    static constexpr size_t kMostSteps = 200'000;

    // Faults. REQUIRES of all: called from on_step, or by at().

    /// The process is killed; without effect when its body has ended.
    void kill(int process, Loss loss);

    /// The process does not run for this long, as one that is stopped and continued.
    void pause(int process, VirtualTime time) {
        paused_until_[index(process)] = now() + time;
    }

    /// From now on each step of the process begins this much later.
    void slow_down(int process, VirtualTime time) { delay_[index(process)] = time; }

    /// Bytes from one process to another do not arrive until release().
    void hold(int from, int to) { network_.hold(from, to); }
    void release(int from, int to) { network_.release(from, to); }

    /// The connections between two processes break.
    void cut(int a, int b) { system_.cut(a, b); }

    /// The process has no memory for what it receives or sends next.
    void fail_allocation(int process) { system_.fail_allocation(process); }

  private:
    static size_t index(int process) { return static_cast<size_t>(process); }
    bool before_step(int task);
    void run_process(int process, const std::function<void(int process)>& body);

    const Links links_;
    Scheduler scheduler_;
    Network network_;
    SimulatedTime time_;
    SimulatedSystem system_;
    TimeSourceGuard time_guard_;
    SystemGuard system_guard_;
    std::function<void(size_t)> on_step_;
    size_t steps_ = 0;
    std::vector<ProcessEnd> ends_;
    std::vector<VirtualTime> paused_until_;                  // by process
    std::vector<VirtualTime> delay_;                         // by process
    std::vector<std::optional<VirtualTime>> delayed_until_;  // by task: its next step
};

}  // namespace mini::dist
