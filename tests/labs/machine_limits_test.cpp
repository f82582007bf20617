#include "labs/measure/machine_limits.hpp"

#include "tests/support/catch.hpp"

TEST_CASE("the limits of a machine are positive") {
    CHECK(mini::peak_flops(1, 0.001) > 0);
    CHECK(mini::peak_flops(2, 0.001) > 0);
    CHECK(mini::copy_seconds(0, 0.001) > 0);
    CHECK(mini::copy_seconds(100, 0.001) > 0);
}
