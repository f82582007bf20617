#include "libmini/kernels/cuda/pinned.hpp"

#include <cuda_runtime.h>

#include <algorithm>
#include <bit>
#include <list>
#include <map>
#include <mutex>
#include <utility>

#include "libmini/kernels/cuda/contexts.hpp"
#include "libmini/kernels/cuda/free_policy.hpp"

namespace mini::cuda {
namespace {

constexpr size_t kMinBytes = 4096;

// A buffer of a power of two bytes.
struct Buffer {
    size_t bytes = 0;
    bool used = false;
    std::list<Event> uses;  // an event recorded after each use

    bool idle() const {
        return std::all_of(uses.begin(), uses.end(),
                           [](const Event& use) { return use.query(); });
    }
};

// As in the allocator, the mutex is not held during calls that may wait for a device.
class PinnedCache {
  public:
    void* allocate(size_t bytes);
    void deallocate(void* pointer);
    void record(const void* pointer, int device, cudaStream_t stream);
    bool holds(const void* pointer);
    void empty();

  private:
    void* take(size_t size);
    Buffer* find(const void* pointer);

    std::mutex mutex_;
    std::map<std::byte*, Buffer> buffers_;
};

// Never destroyed: tensors may outlive the end of main.
PinnedCache& cache() {
    static auto* const one = new PinnedCache;
    return *one;
}

void* PinnedCache::allocate(size_t bytes) {
    const size_t size = std::bit_ceil(std::max(bytes, kMinBytes));
    if (void* const kept = take(size)) return kept;
    const DeviceGuard guard(open_device());  // any device works
    void* pointer = nullptr;
    check(cudaMallocHost(&pointer, size), "cudaMallocHost");
    const std::lock_guard lock(mutex_);
    buffers_[static_cast<std::byte*>(pointer)] = {size, true, {}};
    return pointer;
}

// Returns a cached buffer of `size` bytes that no work uses; null if there is none.
void* PinnedCache::take(size_t size) {
    const std::lock_guard lock(mutex_);
    for (auto& [pointer, buffer] : buffers_) {
        if (buffer.used || buffer.bytes != size || !caching() || !buffer.idle()) continue;
        buffer.uses.clear();
        buffer.used = true;
        return pointer;
    }
    return nullptr;
}

// Returns the buffer in use that contains an address, or null.
Buffer* PinnedCache::find(const void* pointer) {
    auto* const address = static_cast<std::byte*>(const_cast<void*>(pointer));
    const auto after = buffers_.upper_bound(address);
    if (after == buffers_.begin()) return nullptr;
    auto& [begin, buffer] = *std::prev(after);
    return buffer.used && address < begin + buffer.bytes ? &buffer : nullptr;
}

void PinnedCache::deallocate(void* pointer) {
    {
        const std::lock_guard lock(mutex_);
        const auto found = buffers_.find(static_cast<std::byte*>(pointer));
        if (found == buffers_.end()) return;
        found->second.used = false;
        if (caching() || frees_later()) return;
    }
    empty();  // frees this buffer, and buffers whose free was postponed
}

bool PinnedCache::holds(const void* pointer) {
    const std::lock_guard lock(mutex_);
    return find(pointer) != nullptr;
}

void PinnedCache::record(const void* pointer, int device, cudaStream_t stream) {
    Event use(device);
    use.record(stream);  // blocks while the stream is full
    const std::lock_guard lock(mutex_);
    Buffer* const buffer = find(pointer);
    if (buffer == nullptr) return;
    buffer->uses.remove_if([](const Event& earlier) { return earlier.query(); });
    buffer->uses.push_back(std::move(use));
}

// Frees the unused buffers; blocks until the work that uses them is done. After an error
// the remaining buffers stay in the cache.
void PinnedCache::empty() {
    std::map<std::byte*, Buffer> unused;
    {
        const std::lock_guard lock(mutex_);
        for (auto next = buffers_.begin(); next != buffers_.end();) {
            const auto each = next++;
            if (!each->second.used) unused.insert(buffers_.extract(each));
        }
    }
    if (unused.empty()) return;
    try {
        const DeviceGuard guard(open_device());
        while (!unused.empty()) {
            const auto& [pointer, buffer] = *unused.begin();
            for (const Event& use : buffer.uses) use.synchronize();
            check(cudaFreeHost(pointer), "cudaFreeHost");
            unused.erase(unused.begin());
        }
    } catch (const CudaError&) {
        const std::lock_guard lock(mutex_);
        buffers_.merge(unused);
        throw;
    }
}

}  // namespace

void pinned_copied(const void* host, const void* other, cudaStream_t stream) {
    if (!cache().holds(host)) return;
    cudaPointerAttributes attributes;
    check(cudaPointerGetAttributes(&attributes, other), "cudaPointerGetAttributes");
    if (attributes.type != cudaMemoryTypeDevice) return;  // host to host: already done
    cache().record(host, attributes.device, stream);
}

void record_pinned(const void* host, cudaStream_t stream) {
    cache().record(host, current_device(), stream);
}

void* allocate_pinned(size_t bytes) {
    return bytes == 0 ? nullptr : cache().allocate(bytes);
}

void deallocate_pinned(void* pointer) noexcept {
    if (pointer == nullptr) return;
    try {
        cache().deallocate(pointer);
    } catch (const CudaError&) {  // the device has failed, and no other device is open
    }
}

bool is_pinned(const void* pointer) { return cache().holds(pointer); }

void empty_pinned_cache() { cache().empty(); }

}  // namespace mini::cuda
