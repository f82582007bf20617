// The scheduler of a simulation: tasks are fibers of one thread, and the time is virtual.
//
//     ready tasks    run first, one after the other, in an order that the seed decides
//     events         run when no task is ready: the clock jumps to the time of the next one
//
// A task runs until it waits; nothing else runs meanwhile, so tasks share data without
// locks. Virtual time passes only while all tasks wait, however long their code takes. One
// seed, one order: a run can be repeated exactly.

#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <queue>
#include <random>
#include <utility>
#include <vector>

namespace mini {
class Fiber;
}

namespace mini::dist {

/// Virtual time since the start of a simulation, in picoseconds: a byte takes 80 of them on a
/// link of 100 Gbit a second.
using VirtualTime = std::chrono::duration<int64_t, std::pico>;

/// The same in seconds, for people and formulas.
inline double seconds_of(VirtualTime time) {
    return std::chrono::duration<double>(time).count();
}

/// REQUIRES: one thread makes it, runs it and destroys it.
class Scheduler {
  public:
    explicit Scheduler(uint64_t seed);
    ~Scheduler();
    Scheduler(const Scheduler&) = delete;
    Scheduler& operator=(const Scheduler&) = delete;

    /// Adds a task, which is ready to run. Returns its index, counted from 0. Throws Error if
    /// there is no memory for its stack.
    int add(std::function<void()> body);

    /// Runs until every task has returned. Returns false if the remaining tasks wait and there
    /// are no more events. Rethrows the first exception of a task. In both cases the remaining
    /// tasks are unwound first, so that their destructors run.
    bool run();

    VirtualTime now() const { return now_; }

    /// Calls `action` at virtual time `when`, which is not before now(), unless all tasks have
    /// returned by then. Events of the same time run in increasing `order`, then in the order
    /// of these calls.
    void at(VirtualTime when, uint64_t order, std::function<void()> action);

    /// Blocks the calling task until wake(); may return early, so callers check their condition
    /// again. REQUIRES: called by a task.
    void wait();

    /// Makes a waiting task ready; does nothing if the task does not wait.
    void wake(int task);

    /// Wakes a task at virtual time `when`, after all other events of that time.
    void wake_at(VirtualTime when, int task);

    /// Blocks the calling task for this much virtual time. REQUIRES: called by a task.
    void sleep_for(VirtualTime time);

    /// Returns the index of the running task.
    int current() const { return current_; }

    /// Called before a task is resumed, with its index. When it returns false, the task waits
    /// instead, until wake().
    void set_before_resume(std::function<bool(int task)> before_resume) {
        before_resume_ = std::move(before_resume);
    }

    /// Unwinds a task, as at the end of run(). REQUIRES: called by an event, or before a task
    /// is resumed.
    void kill(int task);

  private:
    class Task;
    struct Event {
        VirtualTime when;
        uint64_t order;
        uint64_t number;  // of the call of at()
        std::function<void()> action;
    };
    struct Later {
        bool operator()(const Event& a, const Event& b) const;
    };

    bool are_all_done() const;
    void run_ready();
    void run_task(int task);
    void unwind();

    std::mt19937_64 random_;
    const std::unique_ptr<Fiber> thread_;  // what a task switches back to
    std::vector<std::unique_ptr<Task>> tasks_;
    std::vector<int> ready_;
    std::priority_queue<Event, std::vector<Event>, Later> events_;
    uint64_t next_number_ = 0;
    std::function<bool(int)> before_resume_;
    VirtualTime now_{};
    int current_ = -1;
};

}  // namespace mini::dist
