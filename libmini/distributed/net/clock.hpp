// The clock of libmini/distributed, and the functions by which its threads wait.
//
//     instead of                           here              in
//     std::chrono::steady_clock::now()     Clock::now()
//     std::this_thread::sleep_for(time)    sleep_for(time)
//     sched_yield()                        yield()
//     ppoll(entries)                       poll_until()      poll_until.hpp
//     condition_variable::wait_until()     wait_on()         wait_on.hpp
//     condition_variable::notify_all()     notify_all()      wait_on.hpp
//     std::thread                          start_thread()    time_source.hpp
//
// Each calls the time source (time_source.hpp): the system's clock, or a clock that a
// test advances by hand.

#pragma once

#include <chrono>

namespace mini::dist {

/// std::chrono::steady_clock, except that now() asks the time source.
struct Clock {
    // The members that the standard requires of a clock.
    using duration = std::chrono::steady_clock::duration;  ///< Nanoseconds.
    using rep = duration::rep;                             ///< The type of a tick count.
    using period = duration::period;                       ///< The length of one tick.
    using time_point =
        std::chrono::steady_clock::time_point;  ///< Since the machine started.
    static constexpr bool is_steady = true;     ///< now() never decreases.

    /// Returns the time source's current time; never blocks.
    static time_point now() noexcept;
};

/// Blocks for `time`.
void sleep_for(std::chrono::nanoseconds time);

/// Gives the core to other threads before this thread continues.
void yield();

/// Waits a moment between two checks of a condition that no thread announces: yields for
/// the first 200 checks (`looks` counts them), then sleeps 50 us each time.
void pause(int looks);

}  // namespace mini::dist
