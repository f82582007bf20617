// The clock of libmini/distributed, and the functions with which its threads wait.
//
//     instead of                           use               declared in
//     std::chrono::steady_clock::now()     Clock::now()
//     std::this_thread::sleep_for(time)    sleep_for(time)
//     sched_yield()                        yield()
//     ppoll(entries)                       poll_until()      poll_until.hpp
//     condition_variable::wait_until()     wait_on()         wait_on.hpp
//     condition_variable::notify_all()     notify_all()      wait_on.hpp
//     std::thread                          start_thread()    time_source.hpp
//
// Each of these functions calls the TimeSource in use (time_source.hpp): the machine's
// clock, or a clock that a test advances by hand.

#pragma once

#include <chrono>

namespace mini::dist {

/// std::chrono::steady_clock, except that now() calls the TimeSource in use.
struct Clock {
    // The members that the standard requires of a clock.
    using duration = std::chrono::steady_clock::duration;  ///< Nanoseconds.
    using rep = duration::rep;                             ///< The type of a tick count.
    using period = duration::period;                       ///< The length of one tick.
    using time_point =
        std::chrono::steady_clock::time_point;  ///< Time since the machine started.
    static constexpr bool is_steady = true;     ///< now() never decreases.

    /// Returns the current time of the TimeSource; never blocks.
    static time_point now() noexcept;
};

/// Blocks for `time`.
void sleep_for(std::chrono::nanoseconds time);

/// Gives the core to other threads before this thread continues.
void yield();

/// Pauses between two checks of a condition that no thread notifies: yields after each of
/// the first 200 checks, and sleeps 50 us after each later one. `looks` counts the
/// earlier checks.
void pause(int looks);

}  // namespace mini::dist
