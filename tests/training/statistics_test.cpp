#include "libmini/training/statistics.hpp"

#include <cstdint>
#include <vector>

#include "tests/support/catch.hpp"

using namespace mini;

namespace {

Event at(int64_t nanoseconds, EventKind kind) {
    return {.nanoseconds = nanoseconds, .kind = kind};
}

}  // namespace

TEST_CASE("communication before the end of the backward pass counts as hidden") {
    // Backward ends at 40: all of bucket 0 (10 to 30) and a quarter of bucket 1 (35 to
    // 55) are hidden.
    const std::vector<Event> events{
        at(10, EventKind::kBucketLaunch),    at(10, EventKind::kCollectiveBegin),
        at(30, EventKind::kCollectiveEnd),   at(34, EventKind::kBucketLaunch),
        at(35, EventKind::kCollectiveBegin), at(40, EventKind::kBackwardEnd),
        at(41, EventKind::kBucketDone),      at(55, EventKind::kCollectiveEnd),
        at(56, EventKind::kBucketDone),
    };
    CHECK(training::training_statistics(events).hidden == 25.0 / 40.0);
}

TEST_CASE("collectives that do not reduce a bucket are not counted") {
    const std::vector<Event> events{
        at(1, EventKind::kCollectiveBegin),  at(9, EventKind::kCollectiveEnd),
        at(10, EventKind::kBucketLaunch),    at(20, EventKind::kBackwardEnd),
        at(20, EventKind::kCollectiveBegin), at(30, EventKind::kCollectiveEnd),
        at(31, EventKind::kBucketDone),
    };
    CHECK(training::training_statistics(events).hidden == 0.0);
    CHECK(training::training_statistics({}).hidden == 0.0);
}

TEST_CASE("gradients are listed in the order of their mean times") {
    const auto ready = [](int64_t nanoseconds, int64_t parameter) {
        return Event{.nanoseconds = nanoseconds,
                     .kind = EventKind::kGradReady,
                     .index = parameter,
                     .bytes = 100 + parameter};
    };
    // Two iterations; parameter 1 is used twice in the first one. The gradient at 5 belongs
    // to a pass whose forward pass is not in the log.
    const std::vector<Event> events{
        ready(5, 0),
        at(9, EventKind::kBackwardEnd),
        at(10, EventKind::kForwardBegin),
        at(20, EventKind::kForwardEnd),
        ready(22, 1),
        ready(30, 1),
        ready(40, 0),
        at(41, EventKind::kBackwardEnd),
        at(50, EventKind::kForwardBegin),
        at(60, EventKind::kForwardEnd),
        ready(80, 1),
        ready(90, 0),
        at(91, EventKind::kBackwardEnd),
    };
    const auto gradients = training::training_statistics(events).gradients;
    REQUIRE(gradients.size() == 2);
    CHECK(gradients[0].bytes == 101);
    CHECK(gradients[0].ready == 15.0 / 1e9);  // the mean of 10 and 20
    CHECK(gradients[1].bytes == 100);
    CHECK(gradients[1].ready == 25.0 / 1e9);  // the mean of 20 and 30
}

TEST_CASE(
    "bytes that collectives send between a bucket's launch and its end are counted") {
    const auto sent = [](int64_t bytes) {
        return Event{.kind = EventKind::kCollectiveEnd, .bytes = bytes};
    };
    // The first iteration sends 100 for a bucket and then 20 for another, of which 5 are
    // sent after the backward pass; the second iteration sends 10.
    const std::vector<Event> events{
        sent(1000),  // not for a bucket
        at(1, EventKind::kBucketLaunch),
        sent(100),
        at(2, EventKind::kBucketLaunch),
        sent(15),
        at(3, EventKind::kBackwardEnd),
        at(4, EventKind::kBucketDone),
        sent(5),
        at(5, EventKind::kBucketDone),
        sent(1000),
        at(6, EventKind::kBucketLaunch),
        sent(10),
        at(7, EventKind::kBackwardEnd),
        at(8, EventKind::kBucketDone),
    };
    CHECK(training::training_statistics(events).sent_bytes == 65.0);
    CHECK(training::training_statistics({}).sent_bytes == 0.0);
}

TEST_CASE("the times of a bucket are means since it was last rebuilt") {
    const auto pass = [](int64_t t, int64_t bytes) {
        return std::vector<Event>{
            at(t + 10, EventKind::kForwardBegin),
            at(t + 20, EventKind::kForwardEnd),
            {.nanoseconds = t + 25, .kind = EventKind::kBucketReady},
            {.nanoseconds = t + 31, .kind = EventKind::kBucketLaunch, .bytes = bytes},
            at(t + 32, EventKind::kCollectiveBegin),
            at(t + 40, EventKind::kBackwardEnd),
            at(t + 42 + t / 100, EventKind::kCollectiveEnd),
            at(t + 61, EventKind::kBucketDone),
        };
    };
    std::vector<Event> events = pass(0, 100);
    for (const int64_t t : {100, 300})
        for (const Event& event : pass(t, 200)) events.push_back(event);
    const auto statistics = training::training_statistics(events);
    REQUIRE(statistics.buckets.size() == 1);
    CHECK(statistics.buckets[0].bytes == 200);
    CHECK(statistics.buckets[0].ready == 5.0 / 1e9);
    CHECK(statistics.buckets[0].begin == 12.0 / 1e9);
    CHECK(statistics.buckets[0].end == 24.0 / 1e9);
    CHECK(statistics.compute == std::vector<double>(3, 30.0 / 1e9));
}
