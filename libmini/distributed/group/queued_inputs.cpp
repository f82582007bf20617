// The part of QueuedGroup that waits for a GPU: tensors there come to the host in the order of
// their stream, and what is before them may never end. This is the thread that would find that
// out, so it only ever looks.

#include <algorithm>
#include <chrono>
#include <mutex>
#include <utility>

#include "libmini/distributed/group/queued_group.hpp"
#include "libmini/distributed/group/queued_task.hpp"
#include "libmini/distributed/net/pause.hpp"

namespace mini::dist {
namespace {

// Whether two messages of a rank meet the other side's in the order of their calls.
bool are_in_order(const PointMessage& a, const PointMessage& b) {
    const bool one_peer =
        a.peer == b.peer || a.peer == kAnySource || b.peer == kAnySource;
    return a.direction == b.direction && one_peer && a.tag == b.tag;
}

}  // namespace

// Hands new messages from point to point to the backend.
void QueuedGroup::post_points() {
    bool all_ready = true;
    for (const TaskHandle& task : take_ready_points(all_ready)) {
        recorder_.started(task->ticket);
        backend_->post(task->message);
    }
    if (all_ready) {
        looks_ = 0;
    } else {
        pause(looks_++);
        backend_->wake();  // look again
    }
}

// The new messages that can go; they are under way from now on. What one of a GPU is to bring
// may come later than that of others: they pass it by, but for those that must come after it.
QueuedGroup::Tasks QueuedGroup::take_ready_points(bool& all_ready) {
    Tasks ready, held;
    const std::lock_guard lock(mutex_);
    for (const TaskHandle& task : new_points_) {
        const bool has_inputs = task->has_inputs();
        const bool is_next = std::ranges::none_of(held, [&](const TaskHandle& other) {
            return are_in_order(other->message, task->message);
        });
        if (has_inputs && is_next) {
            ready.push_back(task);
        } else {
            check_in_time(*task);
            held.push_back(task);
        }
    }
    all_ready = held.empty();
    new_points_ = std::move(held);
    under_way_.insert(ready.begin(), ready.end());
    return ready;
}

// Throws Timeout when the GPU has not come to a message's tensor by the deadline. A collective
// that is late as well is the likely cause, and the backend says so of it.
void QueuedGroup::check_in_time(const Task& task) const {
    const Deadline deadline = task.message.deadline;
    if (!has_passed(deadline)) return;
    for (const TaskHandle& other : under_way_)
        if (other->on_gpu() != nullptr && other->on_gpu()->deadline <= deadline) return;
    throw_late_inputs(task, task.message.timeout);
}

// Blocks until the host has what the task reads, but not for longer than the deadline, nor than
// the group lives: what the GPU does first may never end.
void QueuedGroup::wait_for_inputs(const Task& task) {
    const auto timeout = task.call.timeout.value_or(timeout_);
    const Deadline deadline = deadline_after(timeout);
    for (int looks = 0; !task.has_inputs(); ++looks) {
        if (has_passed(deadline)) throw_late_inputs(task, timeout);
        {
            const std::lock_guard lock(mutex_);
            MINI_CHECK(!failure_, "the group was destroyed during ", task.text());
        }
        pause(looks);
    }
}

void QueuedGroup::throw_late_inputs(const Task& task,
                                    std::chrono::milliseconds waited) const {
    throw Timeout(concat("rank ", rank(), " waited ", seconds_text(waited), " in ",
                         task.text(),
                         " for the GPU to come to its tensor: is a kernel before it "
                         "stuck?"));
}

}  // namespace mini::dist
