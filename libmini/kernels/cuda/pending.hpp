// Places in streams that freed memory waits for before it is given out again.

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

/// The events of some memory; shared, so that one can wait for them while the list changes.
using EventList = std::shared_ptr<const std::vector<Event>>;

/// Records an event in each of the streams, which are the device's.
inline EventList record_events(int device, std::span<const cudaStream_t> streams) {
    std::vector<Event> events;
    for (cudaStream_t stream : streams) {
        events.emplace_back(device);
        events.back().record(stream);
    }
    return std::make_shared<const std::vector<Event>>(std::move(events));
}

/// Memory of some kind, each with the events that must have come first. Nothing here blocks.
template <typename Memory>
class Pending {
  public:
    void add(Memory memory, EventList events) {
        all_.emplace_back(std::move(memory), std::move(events));
    }

    /// Calls ready(memory) for what waits no longer.
    template <typename Ready>
    void process(const Ready& ready) {
        for (size_t i = all_.size(); i-- > 0;) {
            const EventList& events = all_.front().second;
            const bool have_come =
                std::all_of(events->begin(), events->end(),
                            [](const Event& event) { return event.query(); });
            auto each = std::move(all_.front());
            all_.pop_front();
            if (have_come) {
                ready(each.first);
            } else {
                all_.push_back(std::move(each));
            }
        }
    }

    /// What must come for all of it to be ready.
    std::vector<EventList> events() const {
        std::vector<EventList> lists;
        for (const auto& [memory, events] : all_) lists.push_back(events);
        return lists;
    }

    bool empty() const { return all_.empty(); }

  private:
    std::deque<std::pair<Memory, EventList>> all_;
};

}  // namespace mini::cuda
