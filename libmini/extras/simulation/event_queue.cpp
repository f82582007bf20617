#include "libmini/extras/simulation/event_queue.hpp"

#include <algorithm>
#include <tuple>
#include <utility>
#include <vector>

#include "libmini/core/error.hpp"

// [lab20 file]
namespace mini::dist {

struct EventQueue::Impl {
    struct Event {
        VirtualTime when;
        uint64_t order;
        uint64_t number;  // counts the calls of at()
        std::function<void()> action;
    };

    // Whether `a` runs after `b`; with this comparison a heap has the first event in front.
    static constexpr auto is_later = [](const Event& a, const Event& b) -> bool {
        // [lab20.1] Compare the times, then the orders, then the numbers.
        return std::tie(a.when, a.order, a.number) > std::tie(b.when, b.order, b.number);
        // [lab20.1]
    };

    std::vector<Event> events;  // a heap
    uint64_t next_number = 0;
    VirtualTime now{};
};

EventQueue::EventQueue() : impl_(std::make_shared<Impl>()) {}
VirtualTime EventQueue::now() const { return impl_->now; }
void EventQueue::clear() { impl_->events.clear(); }

void EventQueue::at(VirtualTime when, uint64_t order, std::function<void()> action) {
    MINI_CHECK(when >= now(), "an event in the past: ", when.count(), " ps, and it is ",
               now().count(), " ps");
    // [lab20.1] Number the event, and add it to the heap.
    impl_->events.push_back({when, order, impl_->next_number++, std::move(action)});
    std::ranges::push_heap(impl_->events, Impl::is_later);
    // [lab20.1]
}

bool EventQueue::run_next() {
    // [lab20.1] Remove the first event, move the clock to its time, call its action.
    if (impl_->events.empty()) return false;
    std::ranges::pop_heap(impl_->events, Impl::is_later);
    const Impl::Event next = std::move(impl_->events.back());
    impl_->events.pop_back();
    impl_->now = next.when;
    next.action();
    return true;
    // [lab20.1]
}

}  // namespace mini::dist
// [lab20 file]
