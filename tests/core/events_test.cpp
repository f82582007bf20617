#include "libmini/core/events.hpp"

#include <algorithm>
#include <chrono>
#include <limits>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "libmini/core/error.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/sanitizers.hpp"

using mini::Event;
using mini::EventKind;
using mini::EventLog;

namespace {

std::vector<int64_t> indices(const std::vector<Event>& events) {
    std::vector<int64_t> result;
    for (const Event& event : events) result.push_back(event.index);
    return result;
}

// Returns the time of one record() in nanoseconds: the minimum over many batches, because
// other processes slow down some of the batches.
double best_nanoseconds_per_event(EventLog& log) {
    using Clock = std::chrono::steady_clock;
    constexpr int kBatches = 200, kEvents = 1000;
    double best = std::numeric_limits<double>::infinity();
    for (int batch = 0; batch < kBatches; ++batch) {
        const auto start = Clock::now();
        for (int i = 0; i < kEvents; ++i)
            log.record(EventKind::kGradReady, i, 64, "grad");
        const std::chrono::duration<double, std::nano> elapsed = Clock::now() - start;
        best = std::min(best, elapsed.count() / kEvents);
    }
    return best;
}

#if defined(NDEBUG)
constexpr bool kTimingCounts = !mini::test::kSanitized;
#else
constexpr bool kTimingCounts = false;
#endif

}  // namespace

TEST_CASE("snapshot returns the events in the order of recording") {
    EventLog log;
    log.record(EventKind::kBackwardEnd);
    log.record(EventKind::kCollectiveBegin, 7, 4096, "all_reduce");
    const std::vector<Event> events = log.snapshot();
    REQUIRE(events.size() == 2);
    CHECK(events[0].kind == EventKind::kBackwardEnd);
    CHECK(events[1].kind == EventKind::kCollectiveBegin);
    CHECK(events[1].index == 7);
    CHECK(events[1].bytes == 4096);
    CHECK(std::string_view(events[1].name) == "all_reduce");
    CHECK(events[0].nanoseconds > 0);
    CHECK(events[0].nanoseconds <= events[1].nanoseconds);
}

TEST_CASE("a snapshot of one kind contains no other events") {
    EventLog log;
    for (int i = 0; i < 3; ++i) {
        log.record(EventKind::kBucketReady, i);
        log.record(EventKind::kBucketLaunch, 10 + i);
    }
    CHECK(indices(log.snapshot(EventKind::kBucketLaunch)) ==
          std::vector<int64_t>{10, 11, 12});
    CHECK(log.snapshot(EventKind::kBucketDone).empty());
}

TEST_CASE("a full log overwrites its oldest events") {
    const int64_t count = GENERATE(0, 1, 3, 4, 5, 8, 11);
    EventLog log(4);
    for (int64_t i = 0; i < count; ++i) log.record(EventKind::kGradReady, i);

    std::vector<int64_t> expected;
    for (int64_t i = std::max<int64_t>(0, count - 4); i < count; ++i)
        expected.push_back(i);
    CAPTURE(count);
    CHECK(indices(log.snapshot()) == expected);
}

TEST_CASE("a cleared log is empty and can be used again") {
    EventLog log(2);
    for (int i = 0; i < 3; ++i) log.record(EventKind::kBucketReady, i);
    log.clear();
    CHECK(log.snapshot().empty());
    for (int i = 5; i < 8; ++i) log.record(EventKind::kBucketReady, i);
    CHECK(indices(log.snapshot()) == std::vector<int64_t>{6, 7});
}

TEST_CASE("a log with capacity 0 throws Error") {
    CHECK_THROWS_AS(EventLog(0), mini::Error);
}

TEST_CASE("concurrent threads lose no events and the recorded times never decrease") {
    constexpr int kThreads = 4, kEach = 1000;
    EventLog log;
    std::vector<std::thread> threads;
    for (int t = 0; t < kThreads; ++t)
        threads.emplace_back([&log, t] {
            for (int i = 0; i < kEach; ++i) log.record(EventKind::kBucketReady, t, i);
        });
    for (std::thread& thread : threads) thread.join();

    const std::vector<Event> events = log.snapshot();
    std::set<std::pair<int64_t, int64_t>> seen;
    for (const Event& event : events) seen.insert({event.index, event.bytes});
    CHECK(events.size() == kThreads * kEach);
    CHECK(seen.size() == kThreads * kEach);
    CHECK(std::is_sorted(
        events.begin(), events.end(),
        [](const Event& a, const Event& b) { return a.nanoseconds < b.nanoseconds; }));
}

TEST_CASE("recording an event takes less than 100 ns in a release build") {
    EventLog log;
    const double nanoseconds = best_nanoseconds_per_event(log);
    WARN("one event takes " << nanoseconds << " ns");
    if (kTimingCounts) CHECK(nanoseconds < 100);
}

TEST_CASE("since returns each event once, and misses those that were overwritten") {
    EventLog log(3);
    uint64_t position = 0;
    CHECK(log.since(position).empty());
    log.record(EventKind::kGradReady, 0);
    log.record(EventKind::kGradReady, 1);
    CHECK(indices(log.since(position)) == std::vector<int64_t>{0, 1});
    CHECK(log.since(position).empty());
    for (int64_t index = 2; index < 9; ++index) log.record(EventKind::kGradReady, index);
    CHECK(indices(log.since(position)) == std::vector<int64_t>{6, 7, 8});
    CHECK(position == 9);
    log.record(EventKind::kGradReady, 9);
    log.clear();
    CHECK(log.since(position).empty());
    log.record(EventKind::kGradReady, 10);
    CHECK(indices(log.since(position)) == std::vector<int64_t>{10});
}

TEST_CASE("a span records its start and its end, and nothing without a log") {
    EventLog log;
    {
        const mini::EventSpan outer(&log, "step", 7);
        const mini::EventSpan inner(&log, "forward");
        const mini::EventSpan none(nullptr, "step");
    }
    std::vector<std::string> names;
    for (const Event& event : log.snapshot())
        names.push_back(
            mini::concat(event.kind == EventKind::kSpanBegin ? "begin " : "end ",
                         event.name, " ", event.index));
    CHECK(names == std::vector<std::string>{"begin step 7", "begin forward 0",
                                            "end forward 0", "end step 7"});
}
