// The checks of lab 20, tasks 20.4, 20.6 and 20.7: the timeline of the buckets, predicted
// and read from the log of a run, and the steps of a training.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "labs/20-scaling-by-simulation/prediction.hpp"
#include "labs/check/both_values.hpp"
#include "labs/check/ranks.hpp"
#include "libmini/autograd/functions.hpp"
#include "libmini/core/error.hpp"
#include "libmini/core/events.hpp"
#include "libmini/nn/container.hpp"
#include "libmini/nn/linear.hpp"
#include "libmini/parallel/ddp.hpp"
#include "libmini/parallel/ddp_options.hpp"
#include "libmini/training/statistics.hpp"
#include "tests/support/catch.hpp"

using namespace mini;
using labs::about;
using training::BucketTime;
using training::GradientTime;
using Times = std::vector<BucketTime>;

namespace {

constexpr double kMilliseconds = 1e3;

// "bucket 0 of 64 bytes: ready 5, sent 5 to 9; ..." in ms.
std::string story(const Times& times) {
    std::string text;
    for (size_t i = 0; i < times.size(); ++i) {
        text += concat(i == 0 ? "" : "; ", "bucket ", i, " of ", times[i].bytes,
                       " bytes: ready ", times[i].ready * kMilliseconds);
        text += times[i].end == 0 ? ", never sent"
                                  : concat(", sent ", times[i].begin * kMilliseconds,
                                           " to ", times[i].end * kMilliseconds);
    }
    return text.empty() ? "no bucket" : text;
}

// Times in ms.
struct Expected {
    int64_t bytes;
    double ready, begin, end;
};

void check(const Times& times, const std::vector<Expected>& expected) {
    Times wanted;
    for (const Expected& one : expected)
        wanted.push_back({one.bytes, one.ready / kMilliseconds, one.begin / kMilliseconds,
                          one.end / kMilliseconds});
    INFO("yours    " << story(times));
    INFO("expected " << story(wanted) << " (ms since the end of forward)");
    REQUIRE(times.size() == wanted.size());
    for (size_t i = 0; i < times.size(); ++i) {
        INFO("bucket " << i << ": bytes, ready, begin, end");
        CHECK(times[i].bytes == wanted[i].bytes);
        CHECK(times[i].ready == about(wanted[i].ready, 1e-9));
        CHECK(times[i].begin == about(wanted[i].begin, 1e-9));
        CHECK(times[i].end == about(wanted[i].end, 1e-9));
    }
}

// ---- 20.4

// The tensors of lab 16's warm-up: D, C, B, A, ready after 1, 5, 6 and 9 ms.
const std::vector<GradientTime> kWarmUp{{4, 1e-3}, {56, 5e-3}, {8, 6e-3}, {52, 9e-3}};

// 1 ms, and 1 ms for each 20 bytes.
double all_reduce_seconds(int64_t bytes) {
    return 1e-3 + static_cast<double>(bytes) / 20 * 1e-3;
}

}  // namespace

TEST_CASE("the warm-up of lab 16: two buckets, one, and one each", "[lab20][lab20.4]") {
    INFO("D 4 bytes at 1 ms, C 56 at 5, B 8 at 6, A 52 at 9; 1 ms + n/20 ms each");
    check(lab20::bucket_timeline(kWarmUp, {{0, 1}, {2, 3}}, all_reduce_seconds),
          {{60, 5, 5, 9}, {60, 9, 9, 13}});
    check(lab20::bucket_timeline(kWarmUp, {{0, 1, 2, 3}}, all_reduce_seconds),
          {{120, 9, 9, 16}});
    check(lab20::bucket_timeline(kWarmUp, {{0}, {1}, {2}, {3}}, all_reduce_seconds),
          {{4, 1, 1, 2.2}, {56, 5, 5, 8.8}, {8, 6, 8.8, 10.2}, {52, 9, 10.2, 13.8}});
}

TEST_CASE("a bucket that is ready early waits for the bucket before it",
          "[lab20][lab20.4]") {
    INFO("bucket 1 is ready at 1 ms, bucket 0 at 9 ms: buckets are sent in their order");
    check(
        lab20::bucket_timeline({{20, 9e-3}, {20, 1e-3}}, {{0}, {1}}, all_reduce_seconds),
        {{20, 9, 9, 11}, {20, 1, 11, 13}});
}

TEST_CASE("a bucket is ready with its last gradient, in whatever order they come",
          "[lab20][lab20.4]") {
    INFO("bucket 0 has the gradients of 7, 2 and 4 ms, bucket 1 that of 3 ms");
    check(lab20::bucket_timeline({{20, 7e-3}, {20, 2e-3}, {20, 4e-3}, {20, 3e-3}},
                                 {{0, 1, 2}, {3}}, all_reduce_seconds),
          {{60, 7, 7, 11}, {20, 3, 11, 13}});
}

TEST_CASE("an all-reduce that takes no time, gradients at one time, and no buckets",
          "[lab20][lab20.4]") {
    const auto at_once = [](int64_t) { return 0.0; };
    check(lab20::bucket_timeline({{4, 2e-3}, {4, 2e-3}, {4, 3e-3}}, {{0}, {1}, {2}},
                                 at_once),
          {{4, 2, 2, 2}, {4, 2, 2, 2}, {4, 3, 3, 3}});
    CHECK(lab20::bucket_timeline({}, {}, at_once).empty());
}

TEST_CASE("each bucket has the time of its own bytes, and is ready when it can be",
          "[lab20][lab20.4]") {
    INFO("three gradients of one time, then one that comes while the thread is free");
    check(lab20::bucket_timeline({{40, 2e-3}, {20, 2e-3}, {60, 2e-3}, {20, 20e-3}},
                                 {{0}, {1, 2}, {3}}, all_reduce_seconds),
          {{40, 2, 2, 5}, {80, 2, 5, 10}, {20, 20, 20, 22}});
    INFO("2^31 bytes do not fit into an int");
    const auto times = lab20::bucket_timeline({{int64_t{1} << 31, 1e-3}}, {{0}},
                                              [](int64_t) { return 1.0; });
    CHECK(times.at(0).bytes == int64_t{1} << 31);
}

// ---- 20.6

namespace {

using lab20::Computation;
using lab20::Prediction;

// The computation of lab 16's warm-up; every step takes 11 ms of forward and backward.
Computation warm_up() {
    return {.forward = 2e-3,
            .backward = 9e-3,
            .others = 1e-3,
            .gradients = kWarmUp,
            .compute = {11e-3, 11e-3}};
}

std::string in_words(const Prediction& row) {
    return concat(row.sync, ": ", std::round(row.step * 1e6) / 1e3, " ms, all-reduces ",
                  std::round(row.all_reduces * 1e6) / 1e3, " ms, hidden ",
                  std::round(row.hidden * 1e3) / 10, " %");
}

std::vector<std::string> predicted(const Computation& rank, int P,
                                   const lab20::BucketIndices& buckets) {
    std::vector<std::string> rows;
    for (const Prediction& row : lab20::predict(rank, P, buckets, all_reduce_seconds))
        rows.push_back(in_words(row));
    return rows;
}

using Rows = std::vector<std::string>;

}  // namespace

TEST_CASE("the four ways to exchange the gradients of lab 16's warm-up",
          "[lab20][lab20.6]") {
    INFO(
        "forward 2 ms, backward 9, others 1; 4, 56, 8 and 52 bytes; 1 ms + n/20 ms each");
    INFO("average: 4 ms + 120/20 ms; flat: 1 + 6 ms; ddp: two buckets, done at 9 and 13");
    CHECK(predicted(warm_up(), 2, {{0, 1}, {2, 3}}) ==
          Rows{"none: 12 ms, all-reduces 0 ms, hidden 0 %",
               "average: 22 ms, all-reduces 10 ms, hidden 0 %",
               "flat: 19 ms, all-reduces 7 ms, hidden 0 %",
               "ddp: 16 ms, all-reduces 8 ms, hidden 50 %"});
    INFO(
        "a bucket for each: 1 to 2.2, 5 to 8.8, 8.8 to 10.2, 10.2 to 13.8 ms, and "
        "backward ends at 9 ms");
    CHECK(predicted(warm_up(), 2, {{0}, {1}, {2}, {3}}).at(3) ==
          "ddp: 16.8 ms, all-reduces 10 ms, hidden 52 %");
}

TEST_CASE("a step is not shorter than its computation", "[lab20][lab20.6]") {
    Computation rank = warm_up();
    rank.backward = 30e-3;
    INFO("backward goes on until 30 ms, after the last all-reduce: all is hidden");
    CHECK(predicted(rank, 2, {{0, 1}, {2, 3}}).at(3) ==
          "ddp: 33 ms, all-reduces 8 ms, hidden 100 %");
    rank.gradients.clear();
    INFO("without gradients there are no all-reduces, and nothing is hidden");
    CHECK(predicted(rank, 2, {}).at(3) == "ddp: 33 ms, all-reduces 0 ms, hidden 0 %");
}

TEST_CASE("ranks that exchange gradients wait for the slowest", "[lab20][lab20.6]") {
    Computation rank = warm_up();
    rank.compute = {10e-3, 10e-3, 10e-3, 20e-3};
    INFO(
        "of four measured steps one takes 20 ms and three take 10: the mean is 12.5 ms, "
        "and the slower of two ranks takes 14.375 ms on average");
    CHECK(predicted(rank, 2, {{0, 1}, {2, 3}}) ==
          Rows{"none: 12 ms, all-reduces 0 ms, hidden 0 %",
               "average: 23.875 ms, all-reduces 10 ms, hidden 0 %",
               "flat: 20.875 ms, all-reduces 7 ms, hidden 0 %",
               "ddp: 17.875 ms, all-reduces 8 ms, hidden 50 %"});
    INFO("a rank alone waits for none");
    CHECK(predicted(rank, 1, {{0, 1}, {2, 3}}).at(3) ==
          "ddp: 16 ms, all-reduces 8 ms, hidden 50 %");
}

// ---- 20.7, logs

namespace {

Event event(int64_t milliseconds, EventKind kind, int64_t index = 0, int64_t bytes = 0) {
    return {.nanoseconds = milliseconds * 1000000,
            .kind = kind,
            .index = index,
            .bytes = bytes};
}

}  // namespace

TEST_CASE("a log of two buckets: ready, begin and end of each", "[lab20][lab20.7]") {
    INFO(
        "the log: forward ends at 20 ms; bucket 0 (400 bytes) ready and launched at 30,");
    INFO("collective from 31 to 45; bucket 1 (80 bytes) ready at 38, launched at 39,");
    INFO("backward ends at 40, collective from 46 to 60; hint 1 of 20.7 helps");
    const std::vector<Event> first{
        event(10, EventKind::kForwardBegin),
        event(20, EventKind::kForwardEnd),
        event(30, EventKind::kBucketReady, 0, 400),
        event(30, EventKind::kBucketLaunch, 0, 400),
        event(31, EventKind::kCollectiveBegin),
        event(38, EventKind::kBucketReady, 1, 80),
        event(39, EventKind::kBucketLaunch, 1, 80),
        event(40, EventKind::kBackwardEnd),
        event(45, EventKind::kCollectiveEnd),
        event(46, EventKind::kCollectiveBegin),
        event(46, EventKind::kBucketDone, 0),
        event(60, EventKind::kCollectiveEnd),
        event(61, EventKind::kBucketDone, 1),
    };
    check(training::training_statistics(first).buckets,
          {{400, 10, 11, 25}, {80, 18, 26, 40}});

    INFO("then a second iteration that takes twice as long: the means are 1.5 times as");
    INFO("long, unless a time of the first iteration is still there in the second");
    std::vector<Event> both = first;
    for (Event one : first) {
        one.nanoseconds = 100 * 1000000 + 2 * one.nanoseconds;
        both.push_back(one);
    }
    check(training::training_statistics(both).buckets,
          {{400, 15, 16.5, 37.5}, {80, 27, 39, 60}});
}

TEST_CASE("a log in which buckets wait and other collectives run", "[lab20][lab20.7]") {
    INFO(
        "bucket 1 is ready before bucket 0, so both are launched together, and begin "
        "one");
    INFO(
        "after the other; the collective from 21 to 31 and the last one are no bucket's");
    const auto statistics = training::training_statistics({
        event(10, EventKind::kForwardBegin),
        event(20, EventKind::kForwardEnd),
        event(21, EventKind::kCollectiveBegin),
        event(25, EventKind::kBucketReady, 1, 80),
        event(30, EventKind::kBucketReady, 0, 400),
        event(30, EventKind::kBucketLaunch, 0, 400),
        event(30, EventKind::kBucketLaunch, 1, 80),
        event(31, EventKind::kCollectiveEnd),
        event(32, EventKind::kCollectiveBegin),
        event(34, EventKind::kBackwardEnd),
        event(40, EventKind::kCollectiveEnd),
        event(41, EventKind::kCollectiveBegin),
        event(44, EventKind::kCollectiveEnd),
        event(45, EventKind::kBucketDone, 0),
        event(46, EventKind::kBucketDone, 1),
        event(47, EventKind::kCollectiveBegin),
        event(70, EventKind::kCollectiveEnd),
    });
    check(statistics.buckets, {{400, 10, 12, 20}, {80, 5, 21, 24}});
}

TEST_CASE("the log of a real run: buckets in their order on one lane",
          "[lab20][lab20.7]") {
    // Four buckets of one tensor each; the order holds however slow the machine is.
    std::vector<Times> timelines(2);
    labs::run_ranks(2, [&](dist::ProcessGroup& group) {
        nn::Linear first(3, 5), second(5, 2);
        nn::Sequential model(first, second);
        parallel::DistributedDataParallel ddp(
            model, {.first_bucket_bytes = 1, .bucket_cap_mb = parallel::mib(1)});
        for (int pass = 0; pass < 3; ++pass) sum(ddp(Tensor::ones({4, 3}))).backward();
        timelines[static_cast<size_t>(group.rank())] =
            training::training_statistics(group.events().snapshot()).buckets;
    });
    for (const Times& times : timelines) {
        INFO("2 ranks, 4 buckets, means of 3 steps: " << story(times));
        REQUIRE(times.size() == 4);
        double free = 0;
        for (const BucketTime& bucket : times) {
            INFO("a bucket begins when it is ready, after the one before it has ended");
            CHECK(bucket.ready <= bucket.begin);
            CHECK(free <= bucket.begin);
            CHECK(bucket.begin <= bucket.end);
            free = bucket.end;
        }
    }
}
