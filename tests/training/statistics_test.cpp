#include "libmini/training/statistics.hpp"

#include <cstdint>

#include "tests/support/catch.hpp"

using namespace mini;

namespace {

Event at(int64_t nanoseconds, EventKind kind) {
    return {.nanoseconds = nanoseconds, .kind = kind};
}

}  // namespace

TEST_CASE("communication counts as hidden up to the end of the backward pass") {
    // Bucket 0 runs from 10 to 30, all before the end at 40; bucket 1 from 35 to 55, a quarter.
    const std::vector<Event> events{
        at(10, EventKind::kBucketLaunch),    at(10, EventKind::kCollectiveBegin),
        at(30, EventKind::kCollectiveEnd),   at(34, EventKind::kBucketLaunch),
        at(35, EventKind::kCollectiveBegin), at(40, EventKind::kBackwardEnd),
        at(41, EventKind::kBucketDone),      at(55, EventKind::kCollectiveEnd),
        at(56, EventKind::kBucketDone),
    };
    CHECK(training::hidden_communication(events) == 25.0 / 40.0);
}

TEST_CASE("collectives that are no bucket's do not count") {
    const std::vector<Event> events{
        at(1, EventKind::kCollectiveBegin),  at(9, EventKind::kCollectiveEnd),
        at(10, EventKind::kBucketLaunch),    at(20, EventKind::kBackwardEnd),
        at(20, EventKind::kCollectiveBegin), at(30, EventKind::kCollectiveEnd),
        at(31, EventKind::kBucketDone),
    };
    CHECK(training::hidden_communication(events) == 0.0);
    CHECK(training::hidden_communication({}) == 0.0);
}
