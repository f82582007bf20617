// A wait on a condition variable with a deadline of this library's clock.

#pragma once

#include <condition_variable>
#include <mutex>

#include "libmini/distributed/net/deadline.hpp"
#include "libmini/distributed/net/time_source.hpp"

namespace mini::dist {

/// Blocks until done(), which is asked with the lock held each time `changed` was notified.
/// Returns false when the deadline passed first.
template <typename Done>
bool wait_on(std::condition_variable& changed, std::unique_lock<std::mutex>& lock,
             Deadline deadline, const Done& done) {
    while (!done()) {
        if (has_passed(deadline)) return false;
        time_source().wait(changed, lock, deadline);
    }
    return true;
}

}  // namespace mini::dist
