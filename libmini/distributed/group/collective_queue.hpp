// The queue of collectives: collectives run one after another, in call order.
//
//     caller         all_reduce_async -> [ #7 | #8 | #9 ] -> communication thread -> run
//                    Work::wait       <- - - - - - - - - - - done, or failed
//
// One thread runs all collectives, so the call order is the order on the network: ranks
// that call the same collectives in the same order always match. A blocking call at the
// head of the queue runs on the caller's thread, which saves two wake-ups: of the
// communication thread, and then of the caller. A deferred call does so in wait().

#pragma once

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>

#include "libmini/distributed/net/wait_on.hpp"

namespace mini::dist {

class Task;
using TaskHandle = std::shared_ptr<Task>;

class CollectiveQueue {
  public:
    /// The owner, whom the queue calls on the communication thread or on the thread of a
    /// caller.
    class Runner {
      public:
        virtual ~Runner() = default;

        /// Runs one collective or, given null, makes progress on the operations in flight
        /// outside the queue. Does not throw.
        virtual void run(const TaskHandle& task) = 0;

        /// Returns whether any operation is in flight outside the queue. Called with the
        /// mutex locked.
        virtual bool has_more() const = 0;

        /// Makes run(null) return early.
        virtual void wake() = 0;
    };

    explicit CollectiveQueue(Runner& runner) : runner_(runner) {}

    /// Starts the communication thread of rank `rank`. Throws Error if no thread can be
    /// started.
    void start(int rank);

    /// Returns the mutex that guards the queue and the state of its owner.
    std::mutex& mutex() { return mutex_; }

    // REQUIRES of the next functions: the mutex is locked.

    /// Appends a collective. `waits`: whether the caller will call help(). If the queue
    /// was idle, the collective may wait for that.
    void push(const TaskHandle& task, bool waits);

    /// Marks the beginning of a blocking call, which end_help() ends.
    void expect_caller() { has_waiting_caller_ = true; }
    bool has_waiting_caller() const { return has_waiting_caller_; }

    /// Returns whether a thread is in Runner::run.
    bool is_running() const { return running_; }

    /// Wakes the communication thread, which checks for work.
    void notify() { notify_all(changed_); }

    /// Removes and returns all collectives in the queue.
    std::deque<TaskHandle> take_all() { return std::exchange(queue_, {}); }

    /// Makes the communication thread end when the queue is empty and no operation is in
    /// flight.
    void close();
    bool is_closed() const { return closed_; }

    // REQUIRES of the next functions: the mutex is not locked by this thread.

    /// Runs `task` on this thread if `task` is at the head of the queue, no thread is in
    /// Runner::run, and no operation is in flight; otherwise wakes the communication
    /// thread.
    void help(const Task& task);

    /// Marks the end of the blocking call.
    void end_help();

    /// Wakes the communication thread, for a collective whose caller does not call help().
    void wake();

    /// Blocks until the communication thread and every helping caller have left Runner::run. REQUIRES: close() was called.
    void join();

    /// Returns whether start() was called and join() was not.
    bool is_started() const { return thread_ != nullptr; }

  private:
    bool has_work() const { return !running_ && (!queue_.empty() || runner_.has_more()); }
    void loop();
    void run(const TaskHandle& task);

    Runner& runner_;
    std::mutex mutex_;  // guards all members below, except thread_
    std::condition_variable changed_;
    std::deque<TaskHandle> queue_;
    bool running_ = false;      // a thread is in Runner::run
    bool progressing_ = false;  // that thread is in run(null)
    bool closed_ = false;
    bool has_waiting_caller_ = false;
    std::unique_ptr<Thread> thread_;
};

}  // namespace mini::dist
