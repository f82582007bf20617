// The clock of libmini/distributed, deadlines, and the functions with which its threads
// wait. Every blocking call takes a deadline, so a wait of several steps has one time
// limit, not one for each step.
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

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <span>
#include <string>

#include "libmini/core/error.hpp"

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

/// The time at which a wait gives up.
using Deadline = Clock::time_point;

/// No deadline: wait forever.
constexpr Deadline kNever = Deadline::max();

/// Returns the time that is `timeout` from now. Limits `timeout` to ten years, so that
/// the sum cannot overflow.
inline Deadline deadline_after(std::chrono::milliseconds timeout) {
    constexpr std::chrono::milliseconds kLongest = std::chrono::hours(24 * 3650);
    return Clock::now() + std::min(timeout, kLongest);
}

/// Returns the milliseconds until the deadline, rounded up, at most a million; 0 if the
/// deadline has passed.
inline int milliseconds_left(Deadline deadline) {
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now());
    return static_cast<int>(std::clamp<int64_t>(left.count(), 0, 1'000'000));
}

inline bool has_passed(Deadline deadline) { return Clock::now() >= deadline; }

/// Returns the duration in seconds, as text: "2.5 s".
inline std::string seconds_text(std::chrono::milliseconds duration) {
    return concat(static_cast<double>(duration.count()) / 1000, " s");
}

/// Blocks for `time`.
void sleep_for(std::chrono::nanoseconds time);

/// Gives the core to other threads before this thread continues.
void yield();

/// Blocks until one of `entries` has an event, the deadline has passed or a signal
/// arrives, but at most 1000 seconds, so callers check the deadline and call again.
/// Returns what poll(2) returns: the number of entries with events, perhaps 0, or -1 with
/// errno set. Exact to 50 us (prctl PR_SET_TIMERSLACK): poll() rounds to milliseconds,
/// too coarse for an emulated link.
int poll_until(std::span<pollfd> entries, Deadline deadline);

/// Pauses between two checks of a condition that no thread notifies: yields after each of
/// the first 200 checks, and sleeps 50 us after each later one. `looks` counts the
/// earlier checks.
void pause(int looks);

}  // namespace mini::dist
