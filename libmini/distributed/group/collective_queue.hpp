// The queue of collectives: one after the other, in the order of their calls.
//
//     caller         all_reduce_async -> [ #7 | #8 | #9 ] -> communication thread -> run
//                    Work::wait       <- - - - - - - - - - - done, or what it failed with
//
// One thread is enough, and the order of the calls is the order on the wire: ranks that call
// the same collectives in the same order always meet. A blocking call whose turn has come runs
// on the caller's own thread, which saves waking the communication thread and the caller again.

#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

namespace mini::dist {

class Task;
using TaskHandle = std::shared_ptr<Task>;

class CollectiveQueue {
  public:
    /// What the queue calls, on the communication thread or a caller's.
    struct Hooks {
        /// Runs one collective or, with null, moves on what is under way beside the queue.
        /// Does not throw.
        std::function<void(const TaskHandle&)> run;

        /// Whether anything is under way beside the queue. Called with the mutex locked.
        std::function<bool()> has_more;

        /// Ends run(null) early.
        std::function<void()> wake;
    };

    explicit CollectiveQueue(Hooks hooks) : hooks_(std::move(hooks)) {}

    /// Starts the communication thread of rank `rank`. Throws Error when there is none.
    void start(int rank);

    /// Guards the queue, and what its owner keeps beside it.
    std::mutex& mutex() { return mutex_; }

    // REQUIRES of the next functions: the mutex is locked.

    /// Appends a collective. `waits`: its caller waits at once, and will call help().
    void push(const TaskHandle& task, bool waits);

    /// Whether a caller that waits at once has not come back yet.
    bool has_waiting_caller() const { return has_waiting_caller_; }

    /// Whether a thread is in the run hook.
    bool is_running() const { return running_; }

    /// Wakes the communication thread, to see whether there is work.
    void notify() { changed_.notify_all(); }

    /// Empties the queue and returns what was in it.
    std::deque<TaskHandle> take_all() { return std::exchange(queue_, {}); }

    /// Lets the communication thread end once the queue is empty.
    void close();
    bool is_closed() const { return closed_; }

    // REQUIRES of the next functions: the mutex is not locked by this thread.

    /// Runs `task` on this thread if its turn has come and no thread is in the run hook.
    void help(const Task& task);

    /// The caller that help() was for has what it waited for.
    void end_help();

    /// Blocks until the communication thread and every helping caller have left the run
    /// hook. REQUIRES: close() was called.
    void join();

    /// Whether start() was called and join() was not.
    bool is_started() const { return thread_.joinable(); }

  private:
    bool has_work() const { return !running_ && (!queue_.empty() || hooks_.has_more()); }
    void loop();
    void run(const TaskHandle& task);

    const Hooks hooks_;
    std::mutex mutex_;  // guards all below
    std::condition_variable changed_;
    std::deque<TaskHandle> queue_;
    bool running_ = false;      // a thread is in the run hook
    bool progressing_ = false;  // with null
    bool closed_ = false;
    bool has_waiting_caller_ = false;
    std::thread thread_;
};

}  // namespace mini::dist
