#include "libmini/kernels/cuda/pinned.hpp"

#include <cuda_runtime.h>

#include "libmini/kernels/cuda/block_cache.hpp"
#include "libmini/kernels/cuda/contexts.hpp"

namespace mini::cuda {
namespace {

constexpr int kNoDevice = -1;

class PinnedMemory final : public BlockCache {
    void* allocate_from_driver(size_t bytes, int) override {
        const DeviceGuard guard(open_device());  // any device works
        void* pointer = nullptr;
        const cudaError_t code = cudaMallocHost(&pointer, bytes);
        if (code == cudaErrorMemoryAllocation) {
            cudaGetLastError();  // handled by the caller: clear it for the next check
            return nullptr;
        }
        check(code, "cudaMallocHost");
        return pointer;
    }
    void return_to_driver(void* pointer, int) override {
        const DeviceGuard guard(open_device());
        check(cudaFreeHost(pointer), "cudaFreeHost");
    }
};

// Never destroyed: tensors may outlive the end of main.
BlockCache& pinned_cache() {
    static auto* const one = new PinnedMemory;
    return *one;
}

}  // namespace

void pinned_copied(const void* host, const void* other, cudaStream_t stream) {
    if (!pinned_cache().holds(host)) return;
    cudaPointerAttributes attributes;
    check(cudaPointerGetAttributes(&attributes, other), "cudaPointerGetAttributes");
    if (attributes.type != cudaMemoryTypeDevice) return;  // host to host: already done
    pinned_cache().record_use(host, attributes.device, stream);
}

void record_pinned(const void* host, cudaStream_t stream) {
    pinned_cache().record_use(host, current_device(), stream);
}

void* allocate_pinned(size_t bytes) {
    if (bytes == 0) return nullptr;
    void* const pointer = pinned_cache().allocate(bytes, kNoDevice, nullptr);
    if (pointer == nullptr) check(cudaErrorMemoryAllocation, "cudaMallocHost");
    return pointer;
}

void deallocate_pinned(void* pointer) noexcept {
    if (pointer == nullptr) return;
    try {
        pinned_cache().deallocate(pointer);
    } catch (const CudaError&) {  // the device has failed, and no other device is open
    }
}

bool is_pinned(const void* pointer) { return pinned_cache().holds(pointer); }

void empty_pinned_cache() { pinned_cache().empty(kNoDevice); }

}  // namespace mini::cuda
