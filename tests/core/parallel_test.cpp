#include "libmini/core/parallel.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <barrier>
#include <limits>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include "libmini/core/error.hpp"
#include "tests/support/catch.hpp"

// A forked child starts threads, which the thread sanitizer forbids unless told so.
extern "C" const char* __tsan_default_options() { return "die_after_fork=0"; }

namespace {

using mini::parallel_for;
using Chunks = std::vector<std::pair<int64_t, int64_t>>;

// Runs the test with `count` threads, and the next one with 1 again.
struct Threads {
    explicit Threads(int count) { mini::set_num_threads(count); }
    ~Threads() { mini::set_num_threads(1); }
};

Chunks chunks_of(int64_t extent, int64_t grain) {
    std::mutex mutex;
    Chunks chunks;
    parallel_for(extent, grain, [&](int64_t begin, int64_t end) {
        const std::lock_guard lock(mutex);
        chunks.emplace_back(begin, end);
    });
    std::sort(chunks.begin(), chunks.end());
    return chunks;
}

int64_t sum_up_to(int64_t extent, int64_t grain) {
    std::atomic<int64_t> sum = 0;
    parallel_for(extent, grain, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) sum += i;
    });
    return sum;
}

// Keeps each chunk until `count` of them run at once: only that many threads get through.
void meet(int count) {
    std::barrier barrier(count);
    parallel_for(count, 1, [&](int64_t, int64_t) { barrier.arrive_and_wait(); });
}

}  // namespace

TEST_CASE("chunks depend on extent and grain, not on the number of threads") {
    const Threads threads(GENERATE(1, 2, 3, 7));
    const int64_t extent = GENERATE(0, 1, 5, 64, 1000);
    const int64_t grain = GENERATE(1, 3, 64, 2000);
    Chunks expected;
    for (int64_t begin = 0; begin < extent; begin += grain)
        expected.emplace_back(begin, std::min(begin + grain, extent));
    CAPTURE(mini::num_threads(), extent, grain);
    CHECK(chunks_of(extent, grain) == expected);
}

TEST_CASE("an enormous extent does not overflow") {
    const Threads threads(GENERATE(1, 3));
    constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
    constexpr int64_t kHalf = kMost / 2;
    CHECK(chunks_of(kMost, kHalf) ==
          Chunks{{0, kHalf}, {kHalf, 2 * kHalf}, {2 * kHalf, kMost}});
}

TEST_CASE("as many chunks run at once as there are threads") {
    const int count = GENERATE(1, 2, 4, 7);
    const Threads threads(count);
    meet(count);  // blocks for ever if fewer run
    CHECK(mini::num_threads() == count);
}

TEST_CASE("the number of threads can change between loops") {
    for (const int count : {2, 5, 1, 3, 3}) {
        const Threads threads(count);
        meet(count);
    }
    CHECK(mini::num_threads() == 1);
}

TEST_CASE("fewer than one thread, or a grain below one, is refused") {
    CHECK_THROWS_AS(mini::set_num_threads(0), mini::UsageError);
    CHECK_THROWS_AS(mini::set_num_threads(-3), mini::UsageError);
    CHECK_THROWS_AS(chunks_of(10, 0), mini::Error);
    CHECK_THROWS_AS(chunks_of(10, -1), mini::Error);
    CHECK(mini::num_threads() == 1);
}

TEST_CASE("one chunk runs on the calling thread") {
    const Threads threads(4);
    std::thread::id where;
    parallel_for(8, 8, [&](int64_t, int64_t) { where = std::this_thread::get_id(); });
    CHECK(where == std::this_thread::get_id());
}

TEST_CASE("a loop inside a chunk runs on the thread of that chunk") {
    const Threads threads(
        4);  // two of them idle, and ready to help where they should not
    std::atomic<int> strayed = 0;
    parallel_for(2, 1, [&](int64_t, int64_t) {
        const auto outer = std::this_thread::get_id();
        parallel_for(500, 1, [&](int64_t, int64_t) {
            if (std::this_thread::get_id() != outer) ++strayed;
            std::this_thread::yield();
        });
    });
    CHECK(strayed == 0);
}

TEST_CASE("a loop inside a lone chunk may use all threads") {
    const Threads threads(3);
    parallel_for(1, 1, [&](int64_t, int64_t) { meet(3); });
    CHECK(mini::num_threads() == 3);
}

TEST_CASE("an exception reaches the caller, and the loop works again afterwards") {
    const Threads threads(GENERATE(1, 2, 4));
    const int64_t bad = GENERATE(0, 3, 99);
    const auto fail = [&] {
        parallel_for(100, 1, [&](int64_t begin, int64_t) {
            if (begin == bad) throw mini::ShapeError(mini::concat("chunk ", begin));
        });
    };
    CHECK_THROWS_AS(fail(), mini::ShapeError);
    CHECK_THROWS_WITH(fail(), mini::concat("chunk ", bad));
    CHECK(sum_up_to(100, 7) == 4950);
    meet(mini::num_threads());
}

TEST_CASE("after an exception the chunks not begun are left out") {
    constexpr int64_t kCountless = int64_t{1} << 60;  // too many to finish
    const Threads threads(GENERATE(1, 2, 4));

    // The first chunk fails once another thread has joined in.
    std::atomic<bool> joined = mini::num_threads() == 1;
    const auto fail = [&] {
        parallel_for(kCountless, 1, [&](int64_t begin, int64_t) {
            if (begin > 0) joined = true;
            while (!joined) std::this_thread::yield();
            if (begin == 0) throw mini::Error("no");
        });
    };
    CHECK_THROWS_WITH(fail(), "no");
}

TEST_CASE("threads that loop at once each get their own sum") {
    const Threads threads(GENERATE(1, 2, 4));
    constexpr int kCallers = 4;
    std::vector<int> right(kCallers, 0);
    std::vector<std::thread> callers;
    for (int caller = 0; caller < kCallers; ++caller)
        callers.emplace_back([&right, caller] {
            for (int i = 0; i < 200; ++i) {
                const int64_t n = 100 * caller + i;
                right[caller] += sum_up_to(n, 10) == n * (n - 1) / 2;
            }
        });
    for (std::thread& caller : callers) caller.join();
    CHECK(right == std::vector<int>(kCallers, 200));
}

TEST_CASE("a forked child makes helpers of its own") {
    const Threads threads(3);
    meet(3);
    const pid_t child = fork();
    if (child == 0) {
        meet(3);
        _exit(sum_up_to(1000, 1) == 499500 ? 0 : 1);
    }
    int status = -1;
    waitpid(child, &status, 0);
    CHECK(WIFEXITED(status));
    CHECK(WEXITSTATUS(status) == 0);
    meet(3);
}

TEST_CASE("a child forked while other threads loop has a working pool") {
    const Threads threads(3);
    std::atomic<bool> stop = false;
    std::vector<std::thread> loopers;
    for (int i = 0; i < 2; ++i)
        loopers.emplace_back([&] {
            while (!stop) sum_up_to(2, 1);
        });

    constexpr int kForks = 100;
    int good = 0;
    for (int i = 0; i < kForks; ++i) {
        const pid_t child = fork();
        if (child == 0) _exit(sum_up_to(1000, 1) == 499500 ? 0 : 1);
        int status = -1;
        waitpid(child, &status, 0);
        good += WIFEXITED(status) && WEXITSTATUS(status) == 0;
    }
    stop = true;
    for (std::thread& looper : loopers) looper.join();
    CHECK(good == kForks);
}
