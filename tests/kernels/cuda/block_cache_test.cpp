// How the cache of memory blocks reuses blocks.

#include "libmini/kernels/cuda/block_cache.hpp"

#include <cstddef>
#include <cstdint>
#include <new>
#include <vector>

#include "tests/support/caching.hpp"
#include "tests/support/catch.hpp"

namespace mini::cuda {
namespace {

using test::Caching;

// A cache of host memory, of at most `capacity` bytes.
class HostCache final : public BlockCache {
  public:
    explicit HostCache(size_t capacity = SIZE_MAX) : capacity_(capacity) {}
    ~HostCache() { empty(0); }

    void* take(size_t bytes, int device = 0, cudaStream_t stream = nullptr) {
        return allocate(bytes, device, stream);
    }
    std::vector<void*> returned;

  private:
    void* allocate_from_driver(size_t bytes, int device) override {
        if (stats(device).reserved + bytes > capacity_) return nullptr;
        return ::operator new(bytes);
    }
    void return_to_driver(void* pointer, int) override {
        returned.push_back(pointer);
        ::operator delete(pointer);
    }

    size_t capacity_;
};

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
    const Caching on(true);
    HostCache cache;
    void* const first = cache.take(1000);
    cache.deallocate(first);
    std::vector<void*> others = {
        cache.take(1000, 1), cache.take(512), cache.take(1025),
        cache.take(1000, 0, reinterpret_cast<cudaStream_t>(&others))};
    for (void* const other : others) CHECK(other != first);
    CHECK(cache.take(600) == first);
    others.push_back(cache.take(600));
    CHECK(others.back() != first);
    CHECK(cache.stats(0).requests == 6);
    CHECK(cache.stats(0).device_calls == 5);
    for (void* const other : others) cache.deallocate(other);
    cache.deallocate(first);
    cache.empty(1);
}

TEST_CASE("empty returns the free blocks of a device") {
    const Caching on(true);
    HostCache cache;
    void* const used = cache.take(512);
    void* const free = cache.take(512);
    void* const elsewhere = cache.take(512, 1);
    cache.deallocate(free);
    cache.deallocate(elsewhere);
    cache.empty(0);
    CHECK(cache.returned == std::vector<void*>{free});
    CHECK(cache.stats(0).reserved == 512);
    cache.deallocate(used);
    CHECK(cache.stats(0).allocated == 0);
    CHECK(cache.take(512) == used);
    cache.deallocate(used);
    cache.empty(1);
}

TEST_CASE("a full memory is emptied of free blocks before a request fails") {
    const Caching on(true);
    HostCache cache(2048);
    void* const first = cache.take(1536);
    CHECK(cache.take(1024) == nullptr);
    cache.deallocate(first);
    void* const second = cache.take(1024);
    CHECK(second != nullptr);
    CHECK(cache.returned == std::vector<void*>{first});
    CHECK(cache.stats(0).retries == 2);
    CHECK(cache.take(SIZE_MAX) == nullptr);
    cache.deallocate(second);
}

TEST_CASE("a block in use is found by any of its addresses") {
    const Caching on(true);
    HostCache cache;
    auto* const block = static_cast<std::byte*>(cache.take(1024));
    CHECK(cache.holds(block));
    CHECK(cache.holds(block + 1023));
    CHECK_FALSE(cache.holds(block + 1024));
    cache.deallocate(block + 1);  // not the address of a block: ignored
    CHECK(cache.holds(block));
    cache.deallocate(block);
    CHECK_FALSE(cache.holds(block));
    cache.deallocate(block);  // freed already: ignored
    CHECK(cache.stats(0).allocated == 0);
}

}  // namespace
}  // namespace mini::cuda
