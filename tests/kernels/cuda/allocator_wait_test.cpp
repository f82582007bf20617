// The allocator while the device is busy: a thread that waits for the device does not
// block threads that need only cached memory. Otherwise a lost peer could cause a
// deadlock: the first thread waits for communication that never ends, and the thread that
// would abort this communication waits for the first thread.

#include <chrono>
#include <cstddef>
#include <functional>
#include <future>
#include <thread>

#include "libmini/kernels/cuda/allocator.hpp"
#include "libmini/kernels/cuda/runtime.hpp"
#include "tests/support/caching.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/watched_stream.hpp"

namespace mini::cuda {
namespace {

using test::Caching;
using test::kMiB;
using test::WatchedStream;

// Runs `wait`, which must block on the held stream, and `meanwhile` in two threads. The
// test fails, and does not hang, if `meanwhile` blocks too.
void check_concurrent(WatchedStream& held, const std::function<void()>& wait,
                      const std::function<void()>& meanwhile) {
    auto waiting = std::async(std::launch::async, wait);
    auto other = std::async(std::launch::async, meanwhile);
    CHECK(other.wait_for(std::chrono::seconds(20)) == std::future_status::ready);
    CHECK(waiting.wait_for(std::chrono::seconds(0)) == std::future_status::timeout);
    held.release();
    other.get();
    waiting.get();
}

// Calls `body` 50 times in at least 100 ms, so that some calls come after the other
// thread has blocked.
void repeat(const std::function<void()>& body) {
    for (int i = 0; i < 50; ++i) {
        body();
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
}

TEST_CASE(
    "a thread that waits for memory does not block threads that allocate and free") {
    const Caching on(true);
    deallocate(allocate(512, 0, nullptr));  // leaves cached memory for the loop below
    WatchedStream held(0);
    void* const used = allocate(4 * kMiB, 0, nullptr);
    record_stream(used, held.get());
    deallocate(used);
    const size_t retries = memory_stats(0).retries;

    // Requests more than the device's memory. The allocator must then free all cached
    // memory; before it frees `used`, it waits for the held stream.
    const auto wait = [] {
        try {
            allocate(memory_info(0).total + 1, 0, nullptr);
        } catch (const CudaError&) {
            return;
        }
        throw Error("the allocation succeeded");
    };
    check_concurrent(held, wait, [&] {
        while (memory_stats(0).retries == retries) std::this_thread::yield();
        repeat([&] {
            void* const pointer = allocate(512, 0, nullptr);
            record_stream(pointer, held.get());
            deallocate(pointer);
            memory_stats(0);
        });
    });
}

TEST_CASE("without caching a free that waits does not block other threads") {
    const Caching off(false);
    WatchedStream held(0);
    void* const own = allocate(4 * kMiB, 0, held.get());
    set_bytes(own, 1, 4 * kMiB, held.get());
    const size_t allocated = memory_stats(0).allocated;
    check_concurrent(
        held, [&] { deallocate(own); },  // cudaFree waits for the device
        [&] {
            while (memory_stats(0).allocated == allocated) std::this_thread::yield();
            repeat([] { MINI_CHECK(!caching(), "caching is on"); });
        });
}

TEST_CASE(
    "emptying the pinned cache does not block threads that allocate pinned memory") {
    const Caching on(true);
    empty_cache(kHost);
    WatchedStream held(0);
    void* const device = allocate(4 * kMiB, 0, held.get());
    void* const copied = allocate_pinned(4 * kMiB);
    copy(device, copied, 4 * kMiB, held.get());
    deallocate(copied);
    check_concurrent(
        held, [] { empty_cache(kHost); },
        [&] {
            repeat([&] {
                void* const other = allocate_pinned(64);
                record_stream(other, held.get());
                deallocate(other);
            });
        });
    deallocate(device);
    empty_cache(kHost);
}

}  // namespace
}  // namespace mini::cuda
