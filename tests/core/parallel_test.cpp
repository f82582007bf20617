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

// Allows a forked child to start threads, which ThreadSanitizer forbids by default.
extern "C" const char* __tsan_default_options() { return "die_after_fork=0"; }

namespace {

using mini::parallel_for;
using Chunks = std::vector<std::pair<int64_t, int64_t>>;

// Sets the number of threads; resets the number to 1 at the end of the scope.
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

// Blocks until `count` chunks run concurrently, which needs `count` threads.
void wait_for_threads(int count) {
    std::barrier barrier(count);
    parallel_for(count, 1, [&](int64_t, int64_t) { barrier.arrive_and_wait(); });
}

}  // namespace

TEST_CASE("chunks depend on the extent and the grain only") {
    const Threads threads(GENERATE(1, 2, 3, 7));
    const int64_t extent = GENERATE(0, 1, 5, 64, 1000);
    const int64_t grain = GENERATE(1, 3, 64, 2000);
    Chunks expected;
    for (int64_t begin = 0; begin < extent; begin += grain)
        expected.emplace_back(begin, std::min(begin + grain, extent));
    CAPTURE(mini::num_threads(), extent, grain);
    CHECK(chunks_of(extent, grain) == expected);
}

TEST_CASE("an extent near the int64 maximum does not overflow") {
    const Threads threads(GENERATE(1, 3));
    constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
    constexpr int64_t kHalf = kMax / 2;
    CHECK(chunks_of(kMax, kHalf) ==
          Chunks{{0, kHalf}, {kHalf, 2 * kHalf}, {2 * kHalf, kMax}});
}

TEST_CASE("the number of threads can change between calls of parallel_for") {
    for (const int count : {2, 7, 1, 4, 4}) {
        const Threads threads(count);
        wait_for_threads(count);  // blocks forever if fewer threads run
        CHECK(mini::num_threads() == count);
    }
    CHECK(mini::num_threads() == 1);
}

TEST_CASE("a number of threads or a grain below 1 throws an error") {
    CHECK_THROWS_AS(mini::set_num_threads(0), mini::UsageError);
    CHECK_THROWS_AS(mini::set_num_threads(-3), mini::UsageError);
    CHECK_THROWS_AS(chunks_of(10, 0), mini::Error);
    CHECK_THROWS_AS(chunks_of(10, -1), mini::Error);
    CHECK(mini::num_threads() == 1);
}

TEST_CASE("a single chunk runs on the calling thread") {
    const Threads threads(4);
    std::thread::id thread_id;
    parallel_for(8, 8, [&](int64_t, int64_t) { thread_id = std::this_thread::get_id(); });
    CHECK(thread_id == std::this_thread::get_id());
}

TEST_CASE("a nested parallel_for runs on the thread of the outer chunk") {
    const Threads threads(4);  // two threads are idle and must stay idle
    std::atomic<int> on_other_thread = 0;
    parallel_for(2, 1, [&](int64_t, int64_t) {
        const auto outer = std::this_thread::get_id();
        parallel_for(500, 1, [&](int64_t, int64_t) {
            if (std::this_thread::get_id() != outer) ++on_other_thread;
            std::this_thread::yield();
        });
    });
    CHECK(on_other_thread == 0);
}

TEST_CASE("a parallel_for nested in a single chunk uses all threads") {
    const Threads threads(3);
    parallel_for(1, 1, [&](int64_t, int64_t) { wait_for_threads(3); });
    CHECK(mini::num_threads() == 3);
}

TEST_CASE(
    "an exception is rethrown to the caller and parallel_for still works afterwards") {
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
    wait_for_threads(mini::num_threads());
}

TEST_CASE("after an exception the remaining chunks are skipped") {
    constexpr int64_t kCountless = int64_t{1} << 60;  // too many to finish
    const Threads threads(GENERATE(1, 2, 4));

    // The first chunk throws after another thread, if there is one, has started a chunk.
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

TEST_CASE("concurrent calls of parallel_for do not affect each other") {
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

TEST_CASE("a child forked while other threads run parallel_for has a working pool") {
    const Threads threads(3);
    std::atomic<bool> stop = false;
    // All threads run before the first fork: a thread that starts calls malloc(), and a
    // child may inherit the lock of malloc() from Clang 14's AddressSanitizer.
    wait_for_threads(3);
    std::barrier started(3);
    const auto loop = [&] {
        for (started.arrive_and_wait(); !stop;) sum_up_to(2, 1);
    };
    const std::jthread first(loop), second(loop);
    started.arrive_and_wait();

    constexpr int kForks = 100;
    int good = 0;
    for (int i = 0; i < kForks; ++i) {
        const pid_t child = fork();
        if (child == 0) {
            wait_for_threads(3);  // of its own
            _exit(sum_up_to(1000, 1) == 499500 ? 0 : 1);
        }
        int status = -1;
        waitpid(child, &status, 0);
        good += WIFEXITED(status) && WEXITSTATUS(status) == 0;
    }
    stop = true;
    CHECK(good == kForks);
    wait_for_threads(3);
}
