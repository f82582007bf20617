// The caching allocator, on a GPU or on the simulator.

#include "libmini/kernels/cuda/allocator.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "libmini/kernels/cuda/runtime.hpp"
#include "tests/support/caching.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/contains.hpp"
#include "tests/support/message_of.hpp"

namespace mini::cuda {
namespace {

using test::Caching;
using test::contains;
using test::kMiB;

TEST_CASE("freed memory is reused without a call of cudaMalloc") {
    const Caching clean(true);
    const MemoryStats before = memory_stats(0);
    void* const first = allocate(1000, 0, nullptr);
    deallocate(first);
    void* const second = allocate(900, 0, nullptr);
    CHECK(second == first);
    const MemoryStats after = memory_stats(0);
    CHECK(after.device_calls == before.device_calls + 1);
    CHECK(after.allocated == before.allocated + 1024);
    CHECK(after.reserved == before.reserved + 1024);
    deallocate(second);
}

TEST_CASE("allocating 0 bytes returns null and freeing null does nothing") {
    CHECK(allocate(0, 0, nullptr) == nullptr);
    CHECK(allocate_pinned(0) == nullptr);
    deallocate(nullptr);
}

TEST_CASE("allocations of all sizes are aligned and do not overlap") {
    const Caching clean(true);
    std::vector<std::pair<std::byte*, size_t>> all;
    for (const size_t bytes :
         {1ul, 511ul, 513ul, kMiB, kMiB + 1, 10 * kMiB, 21 * kMiB, 7ul})
        all.emplace_back(static_cast<std::byte*>(allocate(bytes, 0, nullptr)), bytes);
    std::sort(all.begin(), all.end());
    for (size_t i = 0; i < all.size(); ++i) {
        CHECK(reinterpret_cast<size_t>(all[i].first) % 512 == 0);
        if (i > 0) CHECK(all[i - 1].first + all[i - 1].second <= all[i].first);
    }
    for (const auto& [pointer, bytes] : all) deallocate(pointer);
}

TEST_CASE("a block is at most an eighth, or 511 bytes, larger than the request") {
    CHECK(block_bytes(1) == 512);
    CHECK(block_bytes(512) == 512);
    CHECK(block_bytes(513) == 1024);
    CHECK(block_bytes(4096) == 4096);
    CHECK(block_bytes(4097) == 4608);
    CHECK(block_bytes(8192) == 8192);
    CHECK(block_bytes(8193) == 9216);
    CHECK(block_bytes(15361) == 16384);
    for (size_t bytes = 1; bytes < 100000; bytes += 7) {
        CAPTURE(bytes);
        const size_t block = block_bytes(bytes);
        CHECK(block >= bytes);
        CHECK((block - bytes < 512 || (block - bytes) * 8 < bytes));
        CHECK(block_bytes(block) == block);
    }
}

TEST_CASE("a block is reused only for its own size class, device and stream") {
    const Caching clean(true);
    const int last = device_count() - 1;  // another device, if there are two
    const Stream stream(0), there(last);
    void* const first = allocate(1000, 0, nullptr);
    deallocate(first);
    std::vector<void*> others = {allocate(1000, last, there.get()),
                                 allocate(512, 0, nullptr), allocate(1025, 0, nullptr),
                                 allocate(1000, 0, stream.get()), allocate_pinned(1000)};
    for (void* const other : others) CHECK(other != first);
    CHECK(allocate(600, 0, nullptr) == first);
    others.push_back(allocate(600, 0, nullptr));
    CHECK(others.back() != first);
    for (void* const other : others) deallocate(other);
    deallocate(first);
    empty_cache(last);
}

TEST_CASE("empty_cache returns the free blocks of a device") {
    const Caching clean(true);
    const int last = device_count() - 1;
    const size_t free = memory_info(0).free;
    const MemoryStats before = memory_stats(0);
    void* const used = allocate(512, 0, nullptr);
    deallocate(allocate(512, last, nullptr));
    deallocate(allocate(30 * kMiB, 0, nullptr));
    const size_t elsewhere = memory_stats(last).reserved;
    CHECK(memory_stats(0).reserved >= before.reserved + 30 * kMiB);
    empty_cache(0);
    CHECK(memory_stats(0).reserved == before.reserved + 512);
    CHECK((last == 0 || memory_stats(last).reserved == elsewhere));
    CHECK(memory_info(0).free + 15 * kMiB >
          free);  // other processes may use the device too
    deallocate(used);
    CHECK(memory_stats(0).allocated == before.allocated);
    CHECK(allocate(512, 0, nullptr) == used);
    deallocate(used);
    empty_cache(last);
}

TEST_CASE("a block in use is found by any of its addresses") {
    const Caching clean(true);
    const size_t before = memory_stats(kHost).allocated;
    auto* const block = static_cast<std::byte*>(allocate_pinned(1024));
    CHECK(is_pinned(block));
    CHECK(is_pinned(block + 1023));
    CHECK_FALSE(is_pinned(block + 1024));
    deallocate(block + 1);  // not the address of a block: ignored
    CHECK(is_pinned(block));
    deallocate(block);
    CHECK_FALSE(is_pinned(block));
    deallocate(block);  // freed already: ignored
    CHECK(memory_stats(kHost).allocated == before);
}

TEST_CASE("a block with a recorded stream is reused only after that stream's work") {
    const Caching clean(true);
    const Stream other(0);
    Event done(0);
    void* const first = allocate(4096, 0, nullptr);
    set_bytes(first, 1, 4096, other.get());
    done.record(other.get());
    record_stream(first, other.get());
    deallocate(first);

    // The block is reused only after the work before `done`.
    bool was_done = false;
    void* second = nullptr;
    std::vector<void*> others;
    while ((second = allocate(4096, 0, nullptr)) != first) {
        others.push_back(second);
        REQUIRE(others.size() < 10000);
        was_done = done.query();
        if (was_done) {
            // The work is done, so any block may be reused now. Free all blocks and end
            // the loop.
            for (void* each : others) deallocate(each);
            others.clear();
            empty_cache(0);
            second = allocate(4096, 0, nullptr);
            break;
        }
    }
    CHECK(done.query());
    for (void* each : others) deallocate(each);
    deallocate(second);
}

TEST_CASE("when the device is full allocate empties the cache and tries again") {
    const Caching clean(true);
    const MemoryInfo info = memory_info(0);
    const size_t most = info.free / 4 * 3;
    deallocate(allocate(most, 0, nullptr));
    const size_t retries = memory_stats(0).retries;
    deallocate(allocate(most, 0, nullptr));  // the cached block
    const Stream stream(0);
    void* const second =
        allocate(most, 0, stream.get());  // does not fit beside the cached memory
    CHECK(memory_stats(0).retries == retries + 1);
    deallocate(second);
}

TEST_CASE("an out-of-memory error reports the sizes and advice") {
    const Caching clean(true);
    const size_t total = memory_info(0).total;
    const std::string message =
        test::message_of<CudaError>([&] { allocate(total + 1, 0, nullptr); });
    CHECK(contains(message, "device 0 is out of memory"));
    CHECK(contains(message, "bytes requested"));
    CHECK(contains(message, "smaller batch"));
    CHECK_THROWS_AS(allocate(SIZE_MAX, 0, nullptr), CudaError);
    deallocate(allocate(512, 0, nullptr));  // the error was cleared
}

TEST_CASE("without caching each allocation calls cudaMalloc") {
    const Caching clean(true);
    set_caching(false);
    const MemoryStats before = memory_stats(0);
    void* const a = allocate(100, 0, nullptr);
    void* const b = allocate(100, 0, nullptr);
    CHECK(memory_stats(0).device_calls == before.device_calls + 2);
    CHECK(memory_stats(0).reserved == before.reserved + 200);
    set_caching(true);  // does not change how a and b are freed
    deallocate(a);
    deallocate(b);
    CHECK(memory_stats(0).reserved == before.reserved);
    CHECK(memory_stats(0).allocated == before.allocated);
}

TEST_CASE("memory statistics are per device") {
    if (device_count() < 2) {
        WARN("skipped: this machine has fewer than two devices");
        return;
    }
    const MemoryStats before = memory_stats(0);
    void* const pointer = allocate(512, 1, nullptr);
    CHECK(memory_stats(0).allocated == before.allocated);
    CHECK(memory_stats(1).allocated >= 512);
    deallocate(pointer);
}

TEST_CASE("pinned memory is reused once its copies are done") {
    const Caching clean(true);
    const Stream stream(0);
    constexpr size_t kBytes = 3 * kMiB;
    void* const device = allocate(kBytes, 0, stream.get());
    std::vector<int> got(kBytes / sizeof(int));
    for (int round = 1; round <= 3; ++round) {
        // The buffer is freed immediately after the call of copy. The next allocation
        // must not overwrite the data of this pending copy.
        auto* const pinned = static_cast<int*>(allocate_pinned(kBytes));
        std::fill_n(pinned, got.size(), round);
        copy(device, pinned, kBytes, stream.get());
        deallocate(pinned);
        auto* const next = static_cast<int*>(allocate_pinned(kBytes));
        std::fill_n(next, got.size(), -1);
        copy(got.data(), device, kBytes, stream.get());
        synchronize_stream(stream.get());
        CHECK(got == std::vector<int>(got.size(), round));
        deallocate(next);
    }

    // All copies are done: a cached buffer is reused and no new buffer is allocated.
    std::set<void*> buffers;
    for (int i = 0; i < 5; ++i) {
        void* const buffer = allocate_pinned(kBytes);
        buffers.insert(buffer);
        deallocate(buffer);
    }
    CHECK(buffers.size() == 1);
    deallocate(device);
    empty_cache(kHost);
}

}  // namespace
}  // namespace mini::cuda
