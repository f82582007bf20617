// Deadline: the time at which a wait gives up. Every blocking call of this folder takes a
// deadline, so a wait of several steps has one time limit, not one for each step.

#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <string>

#include "libmini/core/error.hpp"
#include "libmini/distributed/net/clock.hpp"

namespace mini::dist {

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

}  // namespace mini::dist
