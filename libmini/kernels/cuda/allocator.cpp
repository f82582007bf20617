#include "libmini/kernels/cuda/allocator.hpp"

#include <cuda_runtime.h>

#include <cstdint>

#include "libmini/core/text.hpp"

namespace mini::cuda {
namespace {

class DeviceMemory final : public BlockCache {
    void* allocate_from_driver(size_t bytes, int device) override {
        const DeviceGuard guard(device);
        void* pointer = nullptr;
        const cudaError_t code = cudaMalloc(&pointer, bytes);
        if (code == cudaErrorMemoryAllocation) {
            cudaGetLastError();  // handled by the caller: clear it for the next check
            return nullptr;
        }
        check(code, "cudaMalloc");
        return pointer;
    }
    void return_to_driver(void* pointer, int device) override {
        const DeviceGuard guard(device);
        check(cudaFree(pointer), "cudaFree");
    }
};

// Never destroyed: tensors may outlive the end of main.
BlockCache& device_cache() {
    static auto* const one = new DeviceMemory;
    return *one;
}

[[noreturn]] void out_of_memory(size_t bytes, int device) {
    const auto number = [](size_t count) {
        return with_commas(static_cast<int64_t>(count));
    };
    const DeviceGuard guard(device);
    size_t free = 0, total = 0;
    cudaMemGetInfo(&free, &total);
    const MemoryStats mine = device_cache().stats(device);
    throw CudaError(
        concat("device ", device, " is out of memory: ", number(bytes),
               " bytes requested, ", number(free), " of ", number(total),
               " free; this process has allocated ", number(mine.allocated),
               " and has reserved ", number(mine.reserved - mine.allocated),
               " more in unused blocks; use a smaller batch, free tensors and call "
               "empty_cache(), or check whether another process uses this device"));
}

}  // namespace

void* allocate(size_t bytes, int device, cudaStream_t stream) {
    if (bytes == 0) return nullptr;
    void* const pointer = device_cache().allocate(bytes, device, stream);
    if (pointer == nullptr) out_of_memory(bytes, device);
    return pointer;
}

void deallocate(void* pointer) noexcept {
    if (pointer == nullptr) return;
    try {
        device_cache().deallocate(pointer);
    } catch (const CudaError&) {
        // The device has failed: it can be neither queried nor used again.
    }
}

void record_stream(void* pointer, cudaStream_t stream) {
    if (pointer == nullptr || device_cache().record_stream(pointer, stream)) return;
    record_pinned(pointer, stream);
}

MemoryStats memory_stats(int device) { return device_cache().stats(device); }

void reset_peak_memory_stats(int device) { device_cache().reset_peak(device); }

void empty_cache(int device) { device_cache().empty(device); }

}  // namespace mini::cuda
