#include "labs/11-collectives/simple_group.hpp"

#include <utility>

#include "libmini/distributed/collectives/collectives.hpp"

// [lab11 file]
namespace simple {

using mini::dist::Elements;
using mini::dist::ReduceOp;
using mini::dist::Transport;

bool Work::is_completed() const {
    const std::lock_guard lock(mutex_);
    return is_completed_;
}

void Work::wait() const {
    // [lab11.6] Wait for the end of the operation, and throw its error.
    std::unique_lock lock(mutex_);
    completed_.wait(lock, [this] { return is_completed_; });
    if (error_) std::rethrow_exception(error_);
    // [lab11.6]
}

void Work::complete(std::exception_ptr error) {
    // [lab11.6] Keep the error, and wake every thread that waits.
    const std::lock_guard lock(mutex_);
    error_ = std::move(error);
    is_completed_ = true;
    completed_.notify_all();
    // [lab11.6]
}

Group::Group(Transport& transport) : transport_(transport) {
    thread_ = std::thread([this] { run(); });
}

Group::~Group() {
    // [lab11.6] Tell the thread that no more operations come, and wait for its end.
    {
        const std::lock_guard lock(mutex_);
        is_closing_ = true;
    }
    changed_.notify_one();
    thread_.join();
    // [lab11.6]
}

WorkHandle Group::start(Operation operation) {
    // [lab11.6] Queue the operation with a new Work.
    const auto work = std::make_shared<Work>();
    {
        const std::lock_guard lock(mutex_);
        queue_.push_back({.operation = std::move(operation), .work = work});
    }
    changed_.notify_one();
    return work;
    // [lab11.6]
}

WorkHandle Group::all_reduce_async(std::span<float> data) {
    return start([data](Transport& transport) {
        ring_all_reduce(transport, Elements(data), ReduceOp::kSum);
    });
}

WorkHandle Group::broadcast_async(std::span<float> data, int root) {
    return start([data, root](Transport& transport) {
        tree_broadcast(transport, std::as_writable_bytes(data), root);
    });
}

void Group::run() {
    std::exception_ptr failure;  // of the first operation that failed
    for (;;) {
        std::unique_lock lock(mutex_);
        // [lab11.6] Take the first operation, run it, and complete its Work.
        changed_.wait(lock, [this] { return !queue_.empty() || is_closing_; });
        if (queue_.empty()) return;
        const Queued next = std::move(queue_.front());
        queue_.pop_front();
        lock.unlock();
        try {
            if (!failure) next.operation(transport_);
        } catch (...) {
            failure = std::current_exception();
        }
        next.work->complete(failure);
        // [lab11.6]
    }
}

}  // namespace simple
// [lab11 file]
