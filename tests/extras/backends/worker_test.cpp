// Worker: the wait for a job uses the current time source.

#include "libmini/extras/backends/worker.hpp"

#include <chrono>
#include <future>

#include "tests/distributed/manual_time.hpp"
#include "tests/support/catch.hpp"

using namespace mini;
using namespace mini::dist;
using mini::dist::test::ManualTime;

TEST_CASE("is_done_within times out by the current time source") {
    constexpr std::chrono::milliseconds kHour = std::chrono::hours(1);
    ManualTime time;
    std::promise<void> over;
    Worker worker;
    worker.start([&] { over.get_future().wait(); });

    const auto start = Clock::now();
    auto is_done =
        std::async(std::launch::async, [&] { return worker.is_done_within(kHour); });
    while (is_done.wait_for(std::chrono::milliseconds(1)) == std::future_status::timeout)
        time.advance(std::chrono::minutes(1));
    CHECK_FALSE(is_done.get());
    CHECK(Clock::now() - start >= kHour);

    over.set_value();
    CHECK(worker.is_done_within(kHour));
}
