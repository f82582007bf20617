// The clock of libmini/distributed, and the functions with which its threads wait.
//
//     instead of                           use               declared in
//     std::chrono::steady_clock::now()     Clock::now()
//     std::this_thread::sleep_for(time)    sleep_for(time)
//     sched_yield()                        yield()
//     ppoll(entries)                       poll_until()
//     condition_variable::wait_until()     wait_on()         wait_on.hpp
//     condition_variable::notify_all()     notify_all()      wait_on.hpp
//     std::thread                          start_thread()    system.hpp
//
// Each of these functions calls the System in use (system.hpp): the machine's clock, or a
// clock that a test advances by hand.

#pragma once

#include <poll.h>

#include <chrono>
#include <span>

namespace mini::dist {

/// std::chrono::steady_clock, except that now() calls the System in use.
struct Clock {
    // The members that the standard requires of a clock.
    using duration = std::chrono::steady_clock::duration;  ///< Nanoseconds.
    using rep = duration::rep;                             ///< The type of a tick count.
    using period = duration::period;                       ///< The length of one tick.
    using time_point =
        std::chrono::steady_clock::time_point;  ///< Time since the machine started.
    static constexpr bool is_steady = true;     ///< now() never decreases.

    /// Returns the current time of the System; never blocks.
    static time_point now() noexcept;
};

/// Blocks for `time`.
void sleep_for(std::chrono::nanoseconds time);

/// Gives the core to other threads before this thread continues.
void yield();

/// Blocks until one of `entries` has an event, the deadline has passed or a signal
/// arrives, but at most 1000 seconds, so callers check the deadline and call again.
/// Returns what poll(2) returns: the number of entries with events, perhaps 0, or -1 with
/// errno set. Exact to 50 us (prctl PR_SET_TIMERSLACK): poll() rounds to milliseconds, too
/// coarse for an emulated link.
int poll_until(std::span<pollfd> entries, Clock::time_point deadline);

/// Pauses between two checks of a condition that no thread notifies: yields after each of
/// the first 200 checks, and sleeps 50 us after each later one. `looks` counts the
/// earlier checks.
void pause(int looks);

}  // namespace mini::dist
