// The scheduler of a simulation: tasks are fibers of one thread, and the time is virtual.
//
//     ready tasks    run first, one after the other, in an order that the seed decides
//     events         run when no task is ready: the clock jumps to the time of the next one
//
// A process is a task and the threads that it starts, which are tasks too. A task runs until it waits; nothing else runs meanwhile, so tasks share data without
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

    /// Adds a process with one task, which is ready to run. Returns its index, counted from
    /// 0. Throws Error if its stack cannot be allocated.
    int add(std::function<void()> body) {
        return add_task(process_count_++, std::move(body));
    }

    /// Adds a task to the process of the running task: a thread of it.
    void add_thread(std::function<void()> body) { add_task(process(), std::move(body)); }

    /// Runs until every task has returned. Returns false if the remaining tasks wait and there
    /// are no more events. Rethrows the first exception of a task, after unwind().
    bool run();

    /// Makes run() return false as soon as the running task waits, or at once before a task is
    /// resumed.
    void stop() { is_stopped_ = true; }

    /// Ends the remaining tasks: their waits throw, so that their destructors run. The
    /// destructor does the same. REQUIRES: no destructor of theirs waits.
    void unwind();

    /// Forgets the remaining tasks; their destructors do not run.
    void abandon();

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

    /// Does so for all tasks of a process.
    void wake_process(int process);

    /// Wakes a task at virtual time `when`, after all other events of that time, unless it has
    /// been woken before. REQUIRES: the task waits, or is about to.
    void wake_at(VirtualTime when, int task);

    /// Blocks the calling task for this much virtual time. REQUIRES: called by a task.
    void sleep_for(VirtualTime time);

    /// Returns the index of the running task, and of its process. REQUIRES: called by a task.
    int current() const { return current_; }
    int process() const { return process_of(current_); }

    /// Returns the process of a task.
    int process_of(int task) const { return processes_[static_cast<size_t>(task)]; }

    /// Called before a task is resumed, with its index. When it returns false, the task waits
    /// instead, until wake().
    void set_before_resume(std::function<bool(int task)> before_resume) {
        before_resume_ = std::move(before_resume);
    }

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

    int add_task(int process, std::function<void()> body);
    bool are_all_done() const;
    void run_ready();
    void run_task(int task);

    std::mt19937_64 random_;
    const std::unique_ptr<Fiber> thread_;  // what a task switches back to
    std::vector<std::unique_ptr<Task>> tasks_;
    std::vector<int> processes_;              // by task
    std::vector<std::vector<int>> tasks_of_;  // by process
    int process_count_ = 0;
    std::vector<int> ready_;
    std::priority_queue<Event, std::vector<Event>, Later> events_;
    uint64_t next_number_ = 0;
    std::function<bool(int)> before_resume_;
    VirtualTime now_{};
    bool is_stopped_ = false;
    int current_ = -1;
};

}  // namespace mini::dist
