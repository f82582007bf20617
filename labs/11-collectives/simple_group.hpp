// simple::Group: asynchronous collectives with one queue and one thread.
//
//     caller's thread                  the group's thread (run)
//     all_reduce_async ── queue ──>    takes the first operation, runs it on the transport
//     work->wait()     <── Work ───    completes its Work, with an error or without
//
// One thread, so that the operations of a rank run one after another in the order of their
// starts: the only thing by which ranks know which calls belong together. Compared with
// libmini's QueuedGroup it has no timeouts, no event log, no GPU and no point-to-point
// messages.

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

    /// Blocks until the operation has ended. Throws its error, each time it is called.
    void wait() const;

    /// Ends the operation, with `error` or (null) without, and wakes every thread that waits.
    /// REQUIRES: was not called before.
    void complete(std::exception_ptr error);

  private:
    mutable std::mutex mutex_;
    mutable std::condition_variable completed_;
    bool is_completed_ = false;
    std::exception_ptr error_;
};

using WorkHandle = std::shared_ptr<Work>;
using Operation = std::function<void(mini::dist::Transport&)>;

/// REQUIRES: one thread makes all calls; the same operations in the same order on all ranks.
class Group {
  public:
    /// Starts the thread. `transport` outlives this object, and only its thread uses it.
    explicit Group(mini::dist::Transport& transport);

    /// Blocks until every operation that was started has ended, and the thread with it.
    ~Group();
    Group(const Group&) = delete;
    Group& operator=(const Group&) = delete;

    /// Queues an operation for the thread, and returns at once with its Work.
    WorkHandle start(Operation operation);

    /// Sums `data` over all ranks, in place. REQUIRES: the caller neither reads nor writes
    /// `data` until the Work has been waited for.
    WorkHandle all_reduce_async(std::span<float> data);

    /// Copies rank `root`'s `data` to every rank; else as all_reduce_async.
    WorkHandle broadcast_async(std::span<float> data, int root);

  private:
    struct Queued {
        Operation operation;
        WorkHandle work;
    };

    /// The thread: runs the queued operations one after another, in the order of their
    /// starts, and completes the Work of each. It does not hold the mutex while it runs one,
    /// so that start() does not block. What an operation throws completes its Work, and every
    /// later one, which is not run any more: the ranks' messages no longer belong together.
    /// Returns when the group is closing and the queue is empty.
    void run();

    mini::dist::Transport& transport_;
    std::mutex mutex_;                 // of queue_ and is_closing_
    std::condition_variable changed_;  // either of them has changed
    std::deque<Queued> queue_;
    bool is_closing_ = false;
    std::thread thread_;  // the last member: it uses the others
};

}  // namespace simple
