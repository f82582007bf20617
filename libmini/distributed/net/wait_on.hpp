// Waits on a condition variable with a deadline of mini::dist::Clock.

#pragma once

#include <condition_variable>
#include <mutex>

#include "libmini/distributed/net/clock.hpp"
#include "libmini/distributed/net/system.hpp"

namespace mini::dist {

/// Blocks until done() returns true. Calls done() with the lock held: first immediately,
/// then each time `changed` is notified. Returns false if the deadline passes first.
template <typename Done>
bool wait_on(std::condition_variable& changed, std::unique_lock<std::mutex>& lock,
             Deadline deadline, const Done& done) {
    while (!done()) {
        if (has_passed(deadline)) return false;
        system().wait(changed, lock, deadline);
    }
    return true;
}

/// Wakes all threads that wait for `changed` in wait_on().
inline void notify_all(std::condition_variable& changed) noexcept {
    system().notify_all(changed);
}

}  // namespace mini::dist
