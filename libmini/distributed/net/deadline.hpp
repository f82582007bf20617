// Deadlines: the moment at which a wait gives up. Every blocking call of this room takes
// one, so a wait made of several steps ends on time as a whole, not once per step.

#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <string>

#include "libmini/core/error.hpp"
#include "libmini/distributed/net/clock.hpp"

namespace mini::dist {

using Deadline = Clock::time_point;

/// The deadline of what has none.
constexpr Deadline kNever = Deadline::max();

/// The moment `timeout` from now; ten years at most, so that it cannot overflow.
inline Deadline deadline_after(std::chrono::milliseconds timeout) {
    constexpr std::chrono::milliseconds kLongest = std::chrono::hours(24 * 3650);
    return Clock::now() + std::min(timeout, kLongest);
}

/// For timeouts in milliseconds: those left, rounded up, a million at most; 0 when the
/// deadline has passed.
inline int milliseconds_left(Deadline deadline) {
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now());
    return static_cast<int>(std::clamp<int64_t>(left.count(), 0, 1'000'000));
}

inline bool has_passed(Deadline deadline) { return Clock::now() >= deadline; }

/// "2.5 s".
inline std::string seconds_text(std::chrono::milliseconds duration) {
    return concat(static_cast<double>(duration.count()) / 1000, " s");
}

}  // namespace mini::dist
