#include "libmini/distributed/group/point_queue.hpp"

#include <algorithm>
#include <utility>

namespace mini::dist {
namespace {

// Returns whether two messages of this rank must stay in call order, because one message
// of the other side could match both.
bool are_in_order(const PointMessage& a, const PointMessage& b) {
    const bool one_peer =
        a.peer == b.peer || a.peer == kAnySource || b.peer == kAnySource;
    return a.direction == b.direction && one_peer && a.tag == b.tag;
}

}  // namespace

std::deque<TaskHandle> PointQueue::take_ready() {
    std::deque<TaskHandle> ready, held;
    for (const TaskHandle& task : waiting_) {
        const bool is_next = std::ranges::none_of(held, [&](const TaskHandle& other) {
            return are_in_order(other->message, task->message);
        });
        (task->has_inputs() && is_next ? ready : held).push_back(task);
    }
    waiting_ = std::move(held);
    return ready;
}

std::deque<TaskHandle> PointQueue::take_all() { return std::exchange(waiting_, {}); }

}  // namespace mini::dist
