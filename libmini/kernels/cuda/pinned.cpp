#include "libmini/kernels/cuda/pinned.hpp"

#include <cuda_runtime.h>

#include <algorithm>
#include <bit>
#include <map>
#include <mutex>
#include <vector>

#include "libmini/kernels/cuda/allocator.hpp"
#include "libmini/kernels/cuda/contexts.hpp"
#include "libmini/kernels/cuda/relaxed_capture.hpp"

namespace mini::cuda {
namespace {

constexpr size_t kLeastBytes = 4096;

// The last place where a stream uses a buffer.
struct Use {
    cudaStream_t stream;
    int device;
    Event event;
};

// A buffer of a power of two bytes.
struct Buffer {
    size_t bytes = 0;
    bool used = false;
    std::vector<Use> uses;

    bool idle() const {
        return std::all_of(uses.begin(), uses.end(),
                           [](const Use& use) { return use.event.query(); });
    }
};

class PinnedCache {
  public:
    void* allocate(size_t bytes);
    void deallocate(void* pointer);
    void record(const void* pointer, int device, cudaStream_t stream);
    bool holds(const void* pointer);
    void empty();

  private:
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
    const std::lock_guard lock(mutex_);
    const RelaxedCapture relaxed;
    const size_t size = std::bit_ceil(std::max(bytes, kLeastBytes));
    for (auto& [pointer, buffer] : buffers_) {
        if (buffer.used || buffer.bytes != size || !caching() || !buffer.idle()) continue;
        buffer.uses.clear();
        buffer.used = true;
        return pointer;
    }
    const DeviceGuard guard(open_device());  // any will do
    void* pointer = nullptr;
    check(cudaMallocHost(&pointer, size), "cudaMallocHost");
    buffers_[static_cast<std::byte*>(pointer)] = {size, true, {}};
    return pointer;
}

// The buffer in use that holds an address, or null.
Buffer* PinnedCache::find(const void* pointer) {
    auto* const address = static_cast<std::byte*>(const_cast<void*>(pointer));
    const auto after = buffers_.upper_bound(address);
    if (after == buffers_.begin()) return nullptr;
    auto& [begin, buffer] = *std::prev(after);
    return buffer.used && address < begin + buffer.bytes ? &buffer : nullptr;
}

void PinnedCache::deallocate(void* pointer) {
    const std::lock_guard lock(mutex_);
    const RelaxedCapture relaxed;
    const auto found = buffers_.find(static_cast<std::byte*>(pointer));
    if (found == buffers_.end()) return;
    found->second.used = false;
    if (caching()) return;
    buffers_.erase(found);
    cudaFreeHost(pointer);
}

bool PinnedCache::holds(const void* pointer) {
    const std::lock_guard lock(mutex_);
    return find(pointer) != nullptr;
}

void PinnedCache::record(const void* pointer, int device, cudaStream_t stream) {
    cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    check(cudaStreamIsCapturing(stream, &status), "cudaStreamIsCapturing");
    if (status != cudaStreamCaptureStatusNone) return;  // a graph's user keeps its memory
    const std::lock_guard lock(mutex_);
    Buffer* const buffer = find(pointer);
    if (buffer == nullptr) return;
    for (Use& use : buffer->uses)
        if (use.stream == stream && use.device == device) return use.event.record(stream);
    buffer->uses.push_back({stream, device, Event(device)});
    buffer->uses.back().event.record(stream);
}

void PinnedCache::empty() {
    const std::lock_guard lock(mutex_);
    std::erase_if(buffers_, [](auto& each) {
        if (each.second.used) return false;
        for (const Use& use : each.second.uses) use.event.synchronize();
        check(cudaFreeHost(each.first), "cudaFreeHost");
        return true;
    });
}

}  // namespace

void pinned_copied(const void* host, const void* other, cudaStream_t stream) {
    if (!cache().holds(host)) return;
    cudaPointerAttributes attributes;
    check(cudaPointerGetAttributes(&attributes, other), "cudaPointerGetAttributes");
    if (attributes.type != cudaMemoryTypeDevice) return;  // the copy has been waited for
    cache().record(host, attributes.device, stream);
}

void record_pinned(const void* host, cudaStream_t stream) {
    cache().record(host, current_device(), stream);
}

void* allocate_pinned(size_t bytes) {
    return bytes == 0 ? nullptr : cache().allocate(bytes);
}

void deallocate_pinned(void* pointer) noexcept {
    if (pointer != nullptr) cache().deallocate(pointer);
}

void empty_pinned_cache() { cache().empty(); }

}  // namespace mini::cuda
