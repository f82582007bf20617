#include "libmini/distributed/group/collective_queue.hpp"

#include <algorithm>
#include <utility>

#include "libmini/core/log.hpp"
#include "libmini/distributed/group/gpu_order.hpp"

namespace mini::dist {

void CollectiveQueue::start(int rank) {
    thread_ = time_source().start_thread([this, rank] {
        logging::set_rank(rank);
        loop();
    });
}

void CollectiveQueue::push(const TaskHandle& task, bool waits) {
    const bool idle = !running_ && queue_.empty() && !runner_.has_more();
    queue_.push_back(task);
    if (waits) has_waiting_caller_ = true;
    if (waits && idle) return;  // the caller runs `task` in help()
    if (progressing_) runner_.wake();
    notify_all(changed_);
}

void CollectiveQueue::loop() {
    const DeferredFreeScope scope;
    while (true) {
        TaskHandle task;
        {
            std::unique_lock lock(mutex_);
            wait_on(changed_, lock, kNever,
                    [this] { return has_work() || (closed_ && !running_); });
            if (!has_work()) return;
            if (!queue_.empty()) task = take_head();
            running_ = true;
            progressing_ = task == nullptr;
        }
        run(task);
    }
}

void CollectiveQueue::help(const Task& task) {
    const DeferredFreeScope scope;
    std::unique_lock lock(mutex_);
    while (contains(task)) {
        if (running_ || runner_.has_more()) {
            notify_all(changed_);
            return;
        }
        const TaskHandle head = take_head();
        running_ = true;
        lock.unlock();
        run(head);
        lock.lock();
    }
}

bool CollectiveQueue::contains(const Task& task) const {
    return std::any_of(queue_.begin(), queue_.end(),
                       [&](const TaskHandle& queued) { return queued.get() == &task; });
}

TaskHandle CollectiveQueue::take_head() {
    TaskHandle head = std::move(queue_.front());
    queue_.pop_front();
    return head;
}

void CollectiveQueue::run(const TaskHandle& task) {
    runner_.run(task);
    const std::lock_guard lock(mutex_);
    running_ = progressing_ = false;
    // Without work, do not wake the communication thread: it would need a core.
    if (has_work() || closed_) notify_all(changed_);
}

void CollectiveQueue::end_wait() {
    const std::lock_guard lock(mutex_);
    has_waiting_caller_ = false;
}

void CollectiveQueue::close() {
    closed_ = true;
    notify_all(changed_);
}

void CollectiveQueue::join() {
    std::exchange(thread_, nullptr)->join();
    std::unique_lock lock(mutex_);
    wait_on(changed_, lock, kNever, [this] { return !running_; });
}

}  // namespace mini::dist
