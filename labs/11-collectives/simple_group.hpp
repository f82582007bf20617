// simple::Group: asynchronous collectives with one queue and one thread.
//
//     caller's thread                 the group's thread (run)
//     all_reduce_async ── queue ──>   takes the first operation, runs it on the transport
//     work->wait()     <── Work ───   completes its Work, with an error or without
//
// The operations of a rank run on one thread, so one after another in the order of their
// starts. The calls of different ranks are matched by this order alone. libmini's
// QueuedGroup also has timeouts, an event log, GPU tensors and point-to-point messages.

#pragma once

#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <thread>

#include "libmini/distributed/transport/transport.hpp"

namespace simple {

/// The handle of one operation. Thread-safe.
class Work {
  public:
    /// Returns whether the operation has ended, with an error or without; never blocks.
    bool is_completed() const;

    /// Blocks until the operation has ended. Throws its error, which may be of any type,
    /// each time it is called.
    void wait() const;

    /// Marks the operation as ended, with an error if `error` is not null, and wakes
    /// every thread that waits. REQUIRES: complete() was not called before.
    void complete(std::exception_ptr error);

  private:
    mutable std::mutex mutex_;
    mutable std::condition_variable completed_;
    bool is_completed_ = false;
    std::exception_ptr error_;
};

using WorkHandle = std::shared_ptr<Work>;
using Operation = std::function<void(mini::dist::Transport&)>;

/// Runs one rank's operations, one at a time, in the order of their starts, on a thread of
/// its own. After an operation has thrown, the operations that were started later do not run,
/// because the ranks' messages no longer match: each of their Works ends with the same error.
/// REQUIRES: one thread makes all calls; all ranks start the same operations in the same
/// order.
class Group {
  public:
    /// Starts the thread. REQUIRES: `transport` outlives this object, and only the thread
    /// of this object uses it.
    explicit Group(mini::dist::Transport& transport);

    /// Blocks until every operation that was started has ended and the thread has ended.
    ~Group();
    Group(const Group&) = delete;
    Group& operator=(const Group&) = delete;

    /// Queues an operation for the thread, and returns its Work immediately, also while
    /// another operation runs.
    WorkHandle start(Operation operation);

    /// Starts the sum of `data` over all ranks, in place, and returns its Work
    /// immediately. REQUIRES: the caller neither reads nor writes `data` until the Work
    /// has been waited for.
    WorkHandle all_reduce_async(std::span<float> data);

    /// Starts the copy of rank `root`'s `data` to `data` on every rank, and returns its
    /// Work immediately. REQUIRES: as all_reduce_async; `root` is the same on all ranks.
    WorkHandle broadcast_async(std::span<float> data, int root);

  private:
    struct Queued {
        Operation operation;
        WorkHandle work;
    };

    /// The thread's function.
    void run();

    mini::dist::Transport& transport_;
    std::mutex mutex_;                 // guards queue_ and is_closing_
    std::condition_variable changed_;  // notified when queue_ or is_closing_ changes
    std::deque<Queued> queue_;
    bool is_closing_ = false;
    std::thread thread_;  // the last member, because the thread uses the others
};

}  // namespace simple
