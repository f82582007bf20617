#include "libmini/distributed/group/collective_queue.hpp"

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
            if (!queue_.empty()) {
                task = queue_.front();
                queue_.pop_front();
            }
            running_ = true;
            progressing_ = task == nullptr;
        }
        run(task);
    }
}

void CollectiveQueue::help(const Task& task) {
    const DeferredFreeScope scope;
    std::unique_lock lock(mutex_);
    const bool is_next = !running_ && !runner_.has_more() && !queue_.empty() &&
                         queue_.front().get() == &task;
    if (!is_next) {
        notify_all(changed_);
        return;
    }
    const TaskHandle mine = queue_.front();
    queue_.pop_front();
    running_ = true;
    lock.unlock();
    run(mine);
}

void CollectiveQueue::run(const TaskHandle& task) {
    runner_.run(task);
    const std::lock_guard lock(mutex_);
    running_ = progressing_ = false;
    // Without work, do not wake the communication thread: it would need a core.
    if (has_work() || closed_) notify_all(changed_);
}

void CollectiveQueue::end_help() {
    const std::lock_guard lock(mutex_);
    has_waiting_caller_ = false;
}

void CollectiveQueue::wake() {
    const std::lock_guard lock(mutex_);
    notify_all(changed_);
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
