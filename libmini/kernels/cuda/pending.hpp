// Places in streams that freed memory waits for before it is given out again.

#pragma once

#include <cstddef>
#include <deque>
#include <span>
#include <utility>
#include <vector>

#include "libmini/kernels/cuda/runtime.hpp"

namespace mini::cuda {

/// Memory of some kind, each with the events that must have come first.
template <typename Memory>
class Pending {
  public:
    /// Records an event in each of the streams, which are the device's.
    void add(Memory memory, int device, std::span<const cudaStream_t> streams) {
        std::vector<Event> events;
        for (cudaStream_t stream : streams) {
            events.emplace_back(device);
            events.back().record(stream);
        }
        all_.emplace_back(std::move(memory), std::move(events));
    }

    /// Calls ready(memory) for what waits no longer; with `wait`, blocks until that is all.
    template <typename Ready>
    void process(bool wait, const Ready& ready) {
        for (size_t i = all_.size(); i-- > 0;) {
            auto& [memory, events] = all_.front();
            bool done = true;
            for (const Event& event : events) {
                if (wait) event.synchronize();
                done = done && event.query();
            }
            auto each = std::move(all_.front());
            all_.pop_front();
            if (done) {
                ready(each.first);
            } else {
                all_.push_back(std::move(each));
            }
        }
    }

    bool empty() const { return all_.empty(); }

  private:
    std::deque<std::pair<Memory, std::vector<Event>>> all_;
};

}  // namespace mini::cuda
