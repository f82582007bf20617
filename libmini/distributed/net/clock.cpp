#include "libmini/distributed/net/clock.hpp"

#include "libmini/distributed/net/time_source.hpp"

namespace mini::dist {

Clock::time_point Clock::now() noexcept { return time_source().now(); }

void sleep_for(std::chrono::nanoseconds time) {
    time_source().sleep_until(Clock::now() + time);
}

void yield() { time_source().yield(); }

void pause(int looks) {
    constexpr int kSpins = 200;
    if (looks < kSpins) return yield();
    sleep_for(std::chrono::microseconds(50));
}

}  // namespace mini::dist
