#include "libmini/tensor/buffer_cache.hpp"

#include <cstdint>
#include <cstdlib>
#include <map>
#include <mutex>
#include <vector>

#include "libmini/core/error.hpp"

namespace mini {
namespace {

constexpr bool kKeepBuffers = MINI_KEEP_BUFFERS;
constexpr size_t kAlignment = 64;
constexpr size_t kMinCachedBuffer = size_t{64} << 10;
constexpr size_t kMaxCachedTotal = size_t{512} << 20;

struct Cache {
    std::mutex mutex;
    std::map<size_t, std::vector<std::byte*>> free_by_size;
    size_t cached_bytes = 0;
};

// Returns the cache, which is never destroyed: storages with static lifetime may be freed
// after all other static objects.
Cache& cache() {
    static Cache* const instance = new Cache;
    return *instance;
}

size_t rounded_up(size_t bytes) {
    return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

bool is_cacheable(size_t bytes) { return kKeepBuffers && bytes >= kMinCachedBuffer; }

std::byte* take_cached(size_t bytes) {
    Cache& c = cache();
    const std::lock_guard lock(c.mutex);
    const auto found = c.free_by_size.find(bytes);
    if (found == c.free_by_size.end() || found->second.empty()) return nullptr;
    std::byte* const data = found->second.back();
    found->second.pop_back();
    c.cached_bytes -= bytes;
    return data;
}

bool put_into_cache(std::byte* data, size_t bytes) {
    Cache& c = cache();
    const std::lock_guard lock(c.mutex);
    if (c.cached_bytes + bytes > kMaxCachedTotal) return false;
    c.free_by_size[bytes].push_back(data);
    c.cached_bytes += bytes;
    return true;
}

}  // namespace

std::byte* allocate_buffer(size_t bytes) {
    if (bytes == 0) return nullptr;
    MINI_CHECK(bytes <= SIZE_MAX - kAlignment, "tensor: no memory for ", bytes, " bytes");

    const size_t size = rounded_up(bytes);
    if (is_cacheable(size))
        if (std::byte* const data = take_cached(size)) return data;
    void* const data = std::aligned_alloc(kAlignment, size);
    MINI_CHECK(data != nullptr, "tensor: no memory for ", bytes, " bytes");
    return static_cast<std::byte*>(data);
}

void free_buffer(std::byte* data, size_t bytes) noexcept {
    if (data == nullptr) return;
    const size_t size = rounded_up(bytes);
    if (is_cacheable(size) && put_into_cache(data, size)) return;
    std::free(data);
}

size_t cached_bytes() {
    Cache& c = cache();
    const std::lock_guard lock(c.mutex);
    return c.cached_bytes;
}

void empty_buffer_cache() {
    Cache& c = cache();
    const std::lock_guard lock(c.mutex);
    for (auto& [size, buffers] : c.free_by_size)
        for (std::byte* const data : buffers) std::free(data);
    c.free_by_size.clear();
    c.cached_bytes = 0;
}

}  // namespace mini
