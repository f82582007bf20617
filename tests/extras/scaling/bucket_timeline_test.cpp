#include "libmini/extras/scaling/bucket_timeline.hpp"

#include <cmath>
#include <vector>

#include "tests/support/catch.hpp"

namespace mini::scaling {
namespace {

using training::BucketTime;
using training::GradientTime;

// 1 ms and 1 ms for each 1000 bytes.
double all_reduce_seconds(int64_t bytes) {
    return 1e-3 + 1e-6 * static_cast<double>(bytes);
}

bool is(double seconds, double milliseconds) {
    return std::abs(seconds * 1e3 - milliseconds) < 1e-6;
}

void check(const BucketTime& bucket, double ready, double begin, double end) {
    CAPTURE(bucket.ready, bucket.begin, bucket.end);
    CHECK(is(bucket.ready, ready));
    CHECK(is(bucket.begin, begin));
    CHECK(is(bucket.end, end));
}

TEST_CASE("a bucket waits for its last gradient and for the lane") {
    const std::vector<GradientTime> gradients{
        {1000, 1e-3}, {2000, 2e-3}, {500, 3e-3}, {500, 20e-3}};
    const auto times = bucket_timeline(gradients, {{0, 1}, {2}, {3}}, all_reduce_seconds);
    REQUIRE(times.size() == 3);
    CHECK(times[0].bytes == 3000);
    check(times[0], 2, 2, 6);
    check(times[1], 3, 6, 7.5);
    check(times[2], 20, 20, 21.5);
}

TEST_CASE("a bucket that is ready early waits for the bucket before it") {
    const auto times =
        bucket_timeline({{1000, 9e-3}, {1000, 1e-3}}, {{0}, {1}}, all_reduce_seconds);
    check(times[0], 9, 9, 11);
    check(times[1], 1, 11, 13);
}

TEST_CASE("gradients in any order, at equal times, and no gradients at all") {
    const auto times = bucket_timeline({{1000, 5e-3}, {1000, 5e-3}, {1000, 0}},
                                       {{2, 1}, {0}}, all_reduce_seconds);
    check(times[0], 5, 5, 8);
    check(times[1], 5, 8, 10);
    CHECK(bucket_timeline({}, {}, all_reduce_seconds).empty());
}

TEST_CASE("an all-reduce that takes no time leaves the buckets in their order") {
    const auto times = bucket_timeline({{4, 2e-3}, {4, 1e-3}, {4, 3e-3}}, {{0}, {1}, {2}},
                                       [](int64_t) { return 0.0; });
    check(times[0], 2, 2, 2);
    check(times[1], 1, 2, 2);
    check(times[2], 3, 3, 3);
}

}  // namespace
}  // namespace mini::scaling
