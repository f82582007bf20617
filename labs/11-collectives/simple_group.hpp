// simple::Group: asynchronous collectives with one queue and one thread.
//
//     caller's thread                 the group's thread
//     all_reduce_async ── queue ──>   takes the first operation, runs it on the transport
//     work->wait()     <── Work ───   completes its Work, with an error or without
//
// The operations of a rank run on one thread, so one after another in the order of their
// starts. The calls of different ranks are matched by this order alone. libmini's
// QueuedGroup also has timeouts, an event log, GPU tensors and point-to-point messages.

#pragma once

#include <exception>
#include <functional>
#include <memory>
#include <span>

#include "libmini/distributed/transport/transport.hpp"

namespace simple {

/// The handle of one operation. Thread-safe.
class Work {
  public:
    /// The operation has not ended.
    Work();
    ~Work();

    /// Returns whether the operation has ended, with an error or without; never blocks.
    bool is_completed() const;

    /// Blocks until the operation has ended. Throws its error, which may be of any type,
    /// each time it is called.
    void wait() const;

    /// Marks the operation as ended, with an error if `error` is not null, and wakes
    /// every thread that waits. REQUIRES: complete() was not called before.
    void complete(std::exception_ptr error);

  private:
    struct Impl;  // what a Work consists of: simple_group.cpp defines it
    std::unique_ptr<Impl> impl_;
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
    struct Impl;  // what a Group consists of: simple_group.cpp defines it
    std::unique_ptr<Impl> impl_;
};

}  // namespace simple
