#include "libmini/core/events.hpp"

#include <algorithm>
#include <chrono>

#include "libmini/core/error.hpp"

namespace mini {

EventLog::EventLog(size_t capacity) : capacity_(capacity) {
    MINI_CHECK(capacity > 0, "EventLog: the capacity is 0");
    ring_.reserve(capacity);  // memory is used only as events fill it
}

int64_t EventLog::record(EventKind kind, int64_t index, int64_t bytes, const char* name,
                         int64_t messages, const char* algorithm) {
    using std::chrono::steady_clock;
    const std::lock_guard lock(mutex_);

    // Read the clock under the lock, so that the times in the ring never decrease.
    const auto now = steady_clock::now().time_since_epoch();
    const int64_t nanoseconds =
        std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
    const Event event{nanoseconds, kind, index, bytes, name, messages, algorithm};

    if (ring_.size() < capacity_)
        ring_.push_back(event);
    else
        ring_[next_] = event;
    if (++next_ == capacity_) next_ = 0;
    ++recorded_;
    return nanoseconds;
}

std::vector<Event> EventLog::snapshot() const {
    uint64_t position = 0;
    return since(position);
}

std::vector<Event> EventLog::snapshot(EventKind kind) const {
    std::vector<Event> events = snapshot();
    std::erase_if(events, [&](const Event& event) { return event.kind != kind; });
    return events;
}

std::vector<Event> EventLog::since(uint64_t& position) const {
    const std::lock_guard lock(mutex_);
    const uint64_t missed = recorded_ - std::min(position, recorded_);
    const size_t count = std::min<uint64_t>(missed, ring_.size());
    position = recorded_;

    // The newest `count` events end before next_; they may begin before the ring wraps.
    std::vector<Event> events;
    events.reserve(count);
    for (size_t back = count; back > 0; --back)
        events.push_back(ring_[(next_ + capacity_ - back) % capacity_]);
    return events;
}

void EventLog::clear() {
    const std::lock_guard lock(mutex_);
    ring_.clear();
    next_ = 0;
}

}  // namespace mini
