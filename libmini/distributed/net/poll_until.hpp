// poll(2) with a deadline in nanoseconds.
//
// poll() takes its timeout in milliseconds, so a wait of 0.3 ms for an emulated link
// would last 1 ms. ppoll() takes a timespec; the kernel adds up to 50 us (prctl
// PR_SET_TIMERSLACK).

#pragma once

#include <poll.h>

#include <span>

#include "libmini/distributed/net/deadline.hpp"
#include "libmini/distributed/net/time_source.hpp"

namespace mini::dist {

/// Blocks until one of `entries` has an event, the deadline has passed or a signal
/// arrives, but at most 1000 seconds, so callers check the deadline and call again.
/// Returns what poll(2) returns: the number of entries with events, perhaps 0, or -1 with
/// errno set.
inline int poll_until(std::span<pollfd> entries, Deadline deadline) {
    return time_source().poll(entries, deadline);
}

}  // namespace mini::dist
