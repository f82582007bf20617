#include "labs/11-collectives/simple_group.hpp"

#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <utility>

#include "libmini/distributed/collectives/collectives.hpp"

// [lab11 file]
namespace simple {

using mini::dist::Elements;
using mini::dist::ReduceOp;
using mini::dist::Transport;

struct Work::Impl {
    std::mutex mutex;  // guards the last two members
    std::condition_variable changed;
    bool is_completed = false;
    std::exception_ptr error;
};

Work::Work() : impl_(std::make_unique<Impl>()) {}
Work::~Work() = default;

bool Work::is_completed() const {
    const std::lock_guard lock(impl_->mutex);
    return impl_->is_completed;
}

void Work::wait() const {
    // [lab11.6] Wait for the end of the operation, and throw its error.
    std::unique_lock lock(impl_->mutex);
    impl_->changed.wait(lock, [this] { return impl_->is_completed; });
    if (impl_->error) std::rethrow_exception(impl_->error);
    // [lab11.6]
}

void Work::complete(std::exception_ptr error) {
    // [lab11.6] Keep the error, and wake every thread that waits.
    const std::lock_guard lock(impl_->mutex);
    impl_->error = std::move(error);
    impl_->is_completed = true;
    impl_->changed.notify_all();
    // [lab11.6]
}

struct Group::Impl {
    struct Queued {
        Operation operation;
        WorkHandle work;
    };

    // The thread's function.
    void run();

    Transport& transport;
    std::mutex mutex = {};                 // guards queue and is_closing
    std::condition_variable changed = {};  // notified when queue or is_closing changes
    std::deque<Queued> queue = {};
    bool is_closing = false;
    std::thread thread = {};
};

Group::Group(Transport& transport) : impl_(new Impl{.transport = transport}) {
    impl_->thread = std::thread([impl = impl_.get()] { impl->run(); });
}

Group::~Group() {
    // [lab11.6] Tell the thread that no more operations come, and wait for its end.
    {
        const std::lock_guard lock(impl_->mutex);
        impl_->is_closing = true;
    }
    impl_->changed.notify_one();
    impl_->thread.join();
    // [lab11.6]
}

WorkHandle Group::start(Operation operation) {
    // [lab11.6] Queue the operation with a new Work.
    const auto work = std::make_shared<Work>();
    {
        const std::lock_guard lock(impl_->mutex);
        impl_->queue.push_back({.operation = std::move(operation), .work = work});
    }
    impl_->changed.notify_one();
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

void Group::Impl::run() {
    std::exception_ptr failure;  // of the first operation that failed
    for (;;) {
        std::unique_lock lock(mutex);
        // [lab11.6] Take the first operation, run it, and complete its Work.
        changed.wait(lock, [this] { return !queue.empty() || is_closing; });
        if (queue.empty()) return;
        const Queued next = std::move(queue.front());
        queue.pop_front();
        lock.unlock();
        try {
            if (!failure) next.operation(transport);
        } catch (...) {
            failure = std::current_exception();
        }
        next.work->complete(failure);
        // [lab11.6]
    }
}

}  // namespace simple
// [lab11 file]
