// The clock of this half of the library, and how a thread lets time pass.
//
//     instead of                           here              in
//     std::chrono::steady_clock::now()     Clock::now()
//     std::this_thread::sleep_for(time)    sleep_for(time)
//     sched_yield()                        yield()
//     ppoll(entries)                       poll_until()      poll_until.hpp
//     condition_variable::wait_until()     wait_on()         wait_on.hpp
//
// They ask the time source (time_source.hpp): the machine's clock, or one that a test moves by
// hand.

#pragma once

#include <chrono>

namespace mini::dist {

/// std::chrono::steady_clock, but for where now() comes from.
struct Clock {
    // What the standard asks of a clock.
    using duration = std::chrono::steady_clock::duration;  ///< Nanoseconds.
    using rep = duration::rep;                             ///< Of their number.
    using period = duration::period;                       ///< Of one of them.
    using time_point =
        std::chrono::steady_clock::time_point;  ///< Since the machine started.
    static constexpr bool is_steady = true;     ///< It never goes back.

    /// The time source's present moment; never blocks.
    static time_point now() noexcept;
};

/// Blocks for `time`.
void sleep_for(std::chrono::nanoseconds time);

/// Lets other threads have the core before this one goes on.
void yield();

/// One of many looks at something that no thread announces: lets others have the core for
/// a moment at first, later sleeps 50 us.
void pause(int looks);

}  // namespace mini::dist
