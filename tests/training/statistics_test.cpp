#include "libmini/training/statistics.hpp"

#include <cstdint>

#include "tests/support/catch.hpp"

using namespace mini;

namespace {

Event at(int64_t nanoseconds, EventKind kind) {
    return {.nanoseconds = nanoseconds, .kind = kind};
}

}  // namespace

TEST_CASE("communication is hidden until the end of the backward pass") {
    // Backward ends at 40: bucket 0, from 10 to 30, is hidden; bucket 1, from 35 to 55,
    // by a quarter.
    const std::vector<Event> events{
        at(10, EventKind::kBucketLaunch),    at(10, EventKind::kCollectiveBegin),
        at(30, EventKind::kCollectiveEnd),   at(34, EventKind::kBucketLaunch),
        at(35, EventKind::kCollectiveBegin), at(40, EventKind::kBackwardEnd),
        at(41, EventKind::kBucketDone),      at(55, EventKind::kCollectiveEnd),
        at(56, EventKind::kBucketDone),
    };
    CHECK(training::hidden_communication(events) == 25.0 / 40.0);
}

TEST_CASE("collectives that are not of a bucket do not count") {
    const std::vector<Event> events{
        at(1, EventKind::kCollectiveBegin),  at(9, EventKind::kCollectiveEnd),
        at(10, EventKind::kBucketLaunch),    at(20, EventKind::kBackwardEnd),
        at(20, EventKind::kCollectiveBegin), at(30, EventKind::kCollectiveEnd),
        at(31, EventKind::kBucketDone),
    };
    CHECK(training::hidden_communication(events) == 0.0);
    CHECK(training::hidden_communication({}) == 0.0);
}
