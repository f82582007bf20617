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
constexpr size_t kLeastKept = size_t{64} << 10;
constexpr size_t kMostKept = size_t{512} << 20;  // in all

struct Cache {
    std::mutex mutex;
    std::map<size_t, std::vector<std::byte*>> free_by_size;
    size_t kept_bytes = 0;
};

// Never destroyed: storages with static lifetime may be freed after it.
Cache& cache() {
    static Cache* const instance = new Cache;
    return *instance;
}

size_t rounded(size_t bytes) {
    return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

bool is_kept(size_t bytes) { return kKeepBuffers && bytes >= kLeastKept; }

std::byte* take_kept(size_t bytes) {
    Cache& kept = cache();
    const std::lock_guard lock(kept.mutex);
    const auto found = kept.free_by_size.find(bytes);
    if (found == kept.free_by_size.end() || found->second.empty()) return nullptr;
    std::byte* const data = found->second.back();
    found->second.pop_back();
    kept.kept_bytes -= bytes;
    return data;
}

bool keep(std::byte* data, size_t bytes) {
    Cache& kept = cache();
    const std::lock_guard lock(kept.mutex);
    if (kept.kept_bytes + bytes > kMostKept) return false;
    kept.free_by_size[bytes].push_back(data);
    kept.kept_bytes += bytes;
    return true;
}

}  // namespace

std::byte* allocate_buffer(size_t bytes) {
    if (bytes == 0) return nullptr;
    MINI_CHECK(bytes <= SIZE_MAX - kAlignment, "tensor: no memory for ", bytes, " bytes");

    const size_t size = rounded(bytes);
    if (is_kept(size))
        if (std::byte* const data = take_kept(size)) return data;
    void* const data = std::aligned_alloc(kAlignment, size);
    MINI_CHECK(data != nullptr, "tensor: no memory for ", bytes, " bytes");
    return static_cast<std::byte*>(data);
}

void free_buffer(std::byte* data, size_t bytes) noexcept {
    if (data == nullptr) return;
    const size_t size = rounded(bytes);
    if (is_kept(size) && keep(data, size)) return;
    std::free(data);
}

size_t cached_bytes() {
    Cache& kept = cache();
    const std::lock_guard lock(kept.mutex);
    return kept.kept_bytes;
}

void empty_buffer_cache() {
    Cache& kept = cache();
    const std::lock_guard lock(kept.mutex);
    for (auto& [size, buffers] : kept.free_by_size)
        for (std::byte* const data : buffers) std::free(data);
    kept.free_by_size.clear();
    kept.kept_bytes = 0;
}

}  // namespace mini
