// The scheduler of a simulation: tasks are fibers of one thread, and time is virtual.
//
//     ready tasks    run first, one after the other, in an order that the seed decides
//     events         run when no task is ready: the clock jumps to the next event's time
//
// A process has one task at first, and one more for each thread that it starts. A task
// runs until it waits, and no other task runs meanwhile, so tasks share data without
// locks. Virtual time passes only while all tasks wait: the code of a task takes no
// virtual time. A run can be repeated exactly, because the same seed gives the same
// order.

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <random>
#include <utility>
#include <vector>

#include "libmini/extras/simulation/event_queue.hpp"

namespace mini {
class Fiber;
}

namespace mini::dist {

/// Runs tasks and events in virtual time. REQUIRES: the same thread constructs, runs and
/// destroys the scheduler.
class Scheduler {
  public:
    explicit Scheduler(uint64_t seed);
    ~Scheduler();
    Scheduler(const Scheduler&) = delete;
    Scheduler& operator=(const Scheduler&) = delete;

    /// Adds a process with one task, which is ready to run. Returns the process's index,
    /// counted from 0. Throws Error if the task's stack cannot be allocated.
    int add(std::function<void()> body) {
        return add_task(process_count_++, std::move(body));
    }

    /// Adds a thread to the process of the running task: a task that is ready to run.
    void add_thread(std::function<void()> body) { add_task(process(), std::move(body)); }

    /// Runs until every task has returned; returns true. Returns false if all remaining
    /// tasks wait and no event is left, or after stop(). Rethrows the first exception of
    /// a task, after unwind().
    bool run();

    /// Makes run() return false when the running task waits; if no task is running,
    /// before the next task is resumed.
    void stop() { is_stopped_ = true; }

    /// Ends the remaining tasks: their waits throw, so that the destructors of their
    /// local variables run. ~Scheduler() calls this. REQUIRES: none of these destructors
    /// waits.
    void unwind();

    /// Discards the remaining tasks; the destructors of their local variables do not run.
    void abandon();

    /// Returns the current virtual time.
    VirtualTime now() const { return events_.now(); }

    /// Calls `action` at virtual time `when`, unless all tasks have returned by then.
    /// Events of the same time run in increasing `order`, then in the order of the calls
    /// of at(). Throws Error if `when` is before now().
    void at(VirtualTime when, uint64_t order, std::function<void()> action) {
        events_.at(when, order, std::move(action));
    }

    /// Blocks the calling task until it is woken. Wake-ups may be spurious, so callers
    /// check their condition again. REQUIRES: called by a task.
    void wait();

    /// Makes a waiting task ready; does nothing if the task does not wait.
    void wake(int task);

    /// Calls wake() for all tasks of a process.
    void wake_process(int process);

    /// Wakes a task at virtual time `when`, after all other events of that time, unless
    /// the task is woken earlier. REQUIRES: the task waits, or is about to wait.
    void wake_at(VirtualTime when, int task);

    /// Blocks the calling task until virtual time `end`. REQUIRES: called by a task.
    void sleep_until(VirtualTime end);

    /// Return the index of the running task, and of its process. REQUIRES: called by a task.
    int current() const { return current_; }
    int process() const { return process_of(current_); }

    /// Returns the index of a task's process.
    int process_of(int task) const { return processes_[static_cast<size_t>(task)]; }

    /// Sets a function that is called, with a task's index, before the task is resumed.
    /// If the function returns false, the task is not resumed: it waits until wake().
    void set_before_resume(std::function<bool(int task)> before_resume) {
        before_resume_ = std::move(before_resume);
    }

  private:
    class Task;

    int add_task(int process, std::function<void()> body);
    bool are_all_done() const;
    void run_ready();
    void run_task(int task);

    std::mt19937_64 random_;
    const std::unique_ptr<Fiber> thread_;  // tasks switch back to this stack
    std::vector<std::unique_ptr<Task>> tasks_;
    std::vector<int> processes_;              // by task
    std::vector<std::vector<int>> tasks_of_;  // by process
    int process_count_ = 0;
    std::vector<int> ready_;
    EventQueue events_;
    std::function<bool(int)> before_resume_;
    bool is_stopped_ = false;
    int current_ = -1;
};

}  // namespace mini::dist
