// Freed memory that waits for events in streams before it is reused.

#pragma once

#include <algorithm>
#include <cstddef>
#include <deque>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "libmini/kernels/cuda/runtime.hpp"

namespace mini::cuda {

/// The events that a piece of memory waits for. Shared, so that a thread can wait for the
/// events while the entries of Pending change.
using EventList = std::shared_ptr<const std::vector<Event>>;

/// Records an event in each stream, and returns the events. REQUIRES: the streams belong
/// to the device.
inline EventList record_events(int device, std::span<const cudaStream_t> streams) {
    std::vector<Event> events;
    for (cudaStream_t stream : streams) {
        events.emplace_back(device);
        events.back().record(stream);
    }
    return std::make_shared<const std::vector<Event>>(std::move(events));
}

/// Pieces of memory, each with the events that must complete before it is reused. No
/// member function blocks.
template <typename Memory>
class Pending {
  public:
    void add(Memory memory, EventList events) {
        entries_.emplace_back(std::move(memory), std::move(events));
    }

    /// Removes the entries whose events are all complete, and calls ready(memory) for
    /// each removed entry.
    template <typename Ready>
    void process(const Ready& ready) {
        for (size_t i = entries_.size(); i-- > 0;) {
            const EventList& events = entries_.front().second;
            const bool complete =
                std::all_of(events->begin(), events->end(),
                            [](const Event& event) { return event.query(); });
            auto entry = std::move(entries_.front());
            entries_.pop_front();
            if (complete) {
                ready(entry.first);
            } else {
                entries_.push_back(std::move(entry));
            }
        }
    }

    /// Returns the events of all entries.
    std::vector<EventList> events() const {
        std::vector<EventList> lists;
        for (const auto& [memory, events] : entries_) lists.push_back(events);
        return lists;
    }

    bool empty() const { return entries_.empty(); }

  private:
    std::deque<std::pair<Memory, EventList>> entries_;
};

}  // namespace mini::cuda
