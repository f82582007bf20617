#include "libmini/distributed/net/clock.hpp"

#include "libmini/distributed/net/system.hpp"

namespace mini::dist {

Clock::time_point Clock::now() noexcept { return system().now(); }

void sleep_for(std::chrono::nanoseconds time) {
    system().sleep_until(Clock::now() + time);
}

void yield() { system().yield(); }

int poll_until(std::span<pollfd> entries, Deadline deadline) {
    return system().poll(entries, deadline);
}

void pause(int looks) {
    constexpr int kSpins = 200;
    if (looks < kSpins) return yield();
    sleep_for(std::chrono::microseconds(50));
}

}  // namespace mini::dist
