// The measurements of labs/measure: the time of a run, and the limits of a machine.

#include "labs/measure/timing.hpp"

#include "labs/measure/machine_limits.hpp"
#include "tests/support/catch.hpp"

TEST_CASE("seconds_each runs the work at least once, also without time for a run") {
    int runs = 0;
    CHECK(mini::seconds_each(0, [&] { ++runs; }) >= 0);
    CHECK(runs >= 1);
}

TEST_CASE("seconds_each returns the time of one run, not of all runs") {
    int runs = 0;
    const double each = mini::seconds_each(0.01, [&] { ++runs; });
    CHECK(runs > 9);  // an increment takes less than a ninth of 10 ms
    CHECK(each < 0.01 / 9);
}

TEST_CASE("the limits of a machine are positive") {
    CHECK(mini::peak_flops(1, 0.001) > 0);
    CHECK(mini::peak_flops(2, 0.001) > 0);
    CHECK(mini::copy_seconds(0, 0.001) > 0);
    CHECK(mini::copy_seconds(100, 0.001) > 0);
}
