#include "libmini/kernels/cuda/allocator.hpp"

#include <cuda_runtime.h>

namespace mini::cuda {

void* allocate(size_t bytes, int device, cudaStream_t) {
    const DeviceGuard guard(device);
    void* pointer = nullptr;
    check(cudaMalloc(&pointer, bytes), "cudaMalloc");
    return pointer;
}
void deallocate(void* pointer) noexcept { cudaFree(pointer); }
MemoryStats memory_stats(int) { return {}; }
void empty_cache(int) {}
void* allocate_pinned(size_t bytes) {
    void* pointer = nullptr;
    check(cudaMallocHost(&pointer, bytes), "cudaMallocHost");
    return pointer;
}
void deallocate_pinned(void* pointer) noexcept { cudaFreeHost(pointer); }

}  // namespace mini::cuda
