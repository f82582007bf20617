// How a thread waits that has to look again and again.

#pragma once

#include <sched.h>

#include <chrono>
#include <thread>

namespace mini::dist {

/// Gives the core away between two looks: for a moment at first, later for 50 us.
inline void pause(int looks) {
    constexpr int kSpins = 200;
    if (looks < kSpins) {
        ::sched_yield();
    } else {
        std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
}

}  // namespace mini::dist
