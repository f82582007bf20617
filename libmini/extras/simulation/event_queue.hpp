// The event queue of a simulation: actions at virtual times, run in the order of their
// times. The clock does not tick, it jumps from event to event.
//
//     at(3 us, a)  at(1 us, b)  at(3 us, c)
//
//     run_next()          b       a       c       equal times: in the order of at()
//     now()         0    1 us    3 us    3 us
//
// An action may add further events, from now() on. Adding and removing an event take
// O(log n) for n events.

#pragma once

#include <chrono>
#include <cmath>
#include <cstdint>
#include <functional>
#include <memory>

namespace mini::dist {

/// Virtual time since the start of a simulation, in picoseconds: a byte takes 80 ps on a
/// link of 100 Gbit/s.
using VirtualTime = std::chrono::duration<int64_t, std::pico>;

/// Returns `time` in seconds.
inline double seconds_of(VirtualTime time) {
    return std::chrono::duration<double>(time).count();
}

/// Returns `seconds` as virtual time, rounded to a picosecond.
inline VirtualTime virtual_time(double seconds) {
    return VirtualTime(
        std::llround(seconds * static_cast<double>(VirtualTime::period::den)));
}

/// Events in the order of their times, and the clock that they move.
class EventQueue {
  public:
    EventQueue();

    /// Returns the time of the last event that run_next() ran; 0 before the first one.
    VirtualTime now() const;

    /// Adds an event: run_next() will call `action` at virtual time `when`. Events of the
    /// same time run in increasing `order`, then in the order of the calls of at().
    /// Throws Error if `when` is before now().
    void at(VirtualTime when, uint64_t order, std::function<void()> action);

    /// Removes the first event, sets now() to its time, and calls its action. Returns
    /// false, and does nothing, if there is no event. The action may call at().
    bool run_next();

    /// Removes all events without calling their actions.
    void clear();

  private:
    struct Impl;  // what a queue consists of: event_queue.cpp defines it
    std::shared_ptr<Impl> impl_;
};

}  // namespace mini::dist
