#include "libmini/extras/simulation/event_queue.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include "libmini/core/error.hpp"

// [lab20 file]
namespace mini::dist {
namespace {

// Whether `a` runs after `b`; with this comparison a heap has the first event in front.
const auto is_later = [](const auto& a, const auto& b) -> bool {
    // [lab20.1] Compare the times, then the orders, then the numbers.
    return std::tie(a.when, a.order, a.number) > std::tie(b.when, b.order, b.number);
    // [lab20.1]
};

}  // namespace

void EventQueue::at(VirtualTime when, uint64_t order, std::function<void()> action) {
    MINI_CHECK(when >= now_, "an event in the past: ", when.count(), " ps, and it is ",
               now_.count(), " ps");
    // [lab20.1] Number the event, and add it to the heap.
    events_.push_back({when, order, next_number_++, std::move(action)});
    std::ranges::push_heap(events_, is_later);
    // [lab20.1]
}

bool EventQueue::run_next() {
    // [lab20.1] Remove the first event, move the clock to its time, call its action.
    if (events_.empty()) return false;
    std::ranges::pop_heap(events_, is_later);
    const Event next = std::move(events_.back());
    events_.pop_back();
    now_ = next.when;
    next.action();
    return true;
    // [lab20.1]
}

}  // namespace mini::dist
// [lab20 file]
