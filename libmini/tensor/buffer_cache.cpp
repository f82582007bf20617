#include "libmini/tensor/buffer_cache.hpp"

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <mutex>
#include <new>
#include <utility>

#include "libmini/core/error.hpp"

namespace mini {
namespace {

constexpr bool kKeepBuffers = MINI_KEEP_BUFFERS;
constexpr size_t kAlignment = 64;
constexpr size_t kMaxCachedTotal = size_t{512} << 20;

// A cached buffer: its first bytes point to the next buffer of the same size.
struct FreeBuffer {
    FreeBuffer* next;
};

struct Cache {
    std::mutex mutex;
    std::map<size_t, FreeBuffer*> free;  // by size, a multiple of kAlignment
    size_t cached_bytes = 0;
};

// Returns the cache, which is never destroyed: storages with static lifetime may be freed
// after all other static objects.
Cache& cache() {
    static Cache* const instance = new Cache;
    return *instance;
}

std::atomic<size_t> allocated = 0;
std::atomic<size_t> max_allocated = 0;

size_t rounded_up(size_t bytes) {
    return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

std::byte* take_cached(size_t bytes) {
    Cache& c = cache();
    const std::lock_guard lock(c.mutex);
    FreeBuffer*& first = c.free[bytes];
    if (first == nullptr) return nullptr;
    c.cached_bytes -= bytes;
    return reinterpret_cast<std::byte*>(std::exchange(first, first->next));
}

bool put_into_cache(std::byte* data, size_t bytes) {
    Cache& c = cache();
    const std::lock_guard lock(c.mutex);
    if (c.cached_bytes + bytes > kMaxCachedTotal) return false;
    FreeBuffer*& first = c.free[bytes];
    first = new (data) FreeBuffer{first};
    c.cached_bytes += bytes;
    return true;
}

}  // namespace

std::byte* allocate_buffer(size_t bytes) {
    if (bytes == 0) return nullptr;
    MINI_CHECK(bytes <= SIZE_MAX - kAlignment, "tensor: no memory for ", bytes, " bytes");

    const size_t size = rounded_up(bytes);
    void* data = kKeepBuffers ? take_cached(size) : nullptr;
    if (data == nullptr) data = std::aligned_alloc(kAlignment, size);
    MINI_CHECK(data != nullptr, "tensor: no memory for ", bytes, " bytes");
    count_allocated(bytes);
    return static_cast<std::byte*>(data);
}

void free_buffer(std::byte* data, size_t bytes) noexcept {
    if (data == nullptr) return;
    count_freed(bytes);
    if (!kKeepBuffers || !put_into_cache(data, rounded_up(bytes))) std::free(data);
}

void count_allocated(size_t bytes) noexcept {
    const size_t size = rounded_up(bytes);
    const size_t now = allocated.fetch_add(size, std::memory_order_relaxed) + size;
    size_t peak = max_allocated.load(std::memory_order_relaxed);
    while (now > peak &&
           !max_allocated.compare_exchange_weak(peak, now, std::memory_order_relaxed)) {
    }
}

void count_freed(size_t bytes) noexcept {
    allocated.fetch_sub(rounded_up(bytes), std::memory_order_relaxed);
}

size_t allocated_bytes() { return allocated.load(std::memory_order_relaxed); }

size_t max_allocated_bytes() { return max_allocated.load(std::memory_order_relaxed); }

void reset_peak_bytes() {
    max_allocated.store(allocated_bytes(), std::memory_order_relaxed);
}

void empty_buffer_cache() {
    Cache& c = cache();
    const std::lock_guard lock(c.mutex);
    for (auto& [size, first] : c.free)
        while (first != nullptr) std::free(std::exchange(first, first->next));
    c.cached_bytes = 0;
}

}  // namespace mini
