// Launches a kernel, with the same interface for nvcc and for the simulator.
//
//     launch(scale_kernel, {.grid = blocks(n, 256), .block = 256}, stream, x, alpha, n);
//
// Included only by .cu files.

#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <utility>

#include "libmini/core/error.hpp"
#include "libmini/kernels/cuda/runtime.hpp"

namespace mini::cuda {

struct Extents {
    dim3 grid;
    dim3 block;
    size_t shared_bytes = 0;  // dynamic shared memory per block
};

/// Returns a / b, rounded up.
constexpr __host__ __device__ int64_t ceil_div(int64_t a, int64_t b) {
    return (a + b - 1) / b;
}

/// Returns the number of blocks of `threads` threads that cover n items. Throws Error if
/// a grid cannot have so many blocks.
inline unsigned blocks(int64_t n, int64_t threads) {
    const int64_t count = ceil_div(n, threads);
    MINI_CHECK(count <= INT32_MAX, "kernel launch: ", n, " items in blocks of ", threads,
               " need ", count, " blocks, more than a grid can have");
    return static_cast<unsigned>(count);
}

#if defined(__CUDACC__)

/// Launches `kernel` in `stream`, without blocking. Throws CudaError with the kernel's
/// name if the launch fails. If the kernel fails later, the next call that waits throws
/// CudaError. Does nothing for an empty grid or block.
template <typename... Parameters, typename... Arguments>
void launch(void (*kernel)(Parameters...), Extents extents, cudaStream_t stream,
            Arguments... arguments) {
    if (extents.grid.x == 0 || extents.block.x == 0) return;
    kernel<<<extents.grid, extents.block, extents.shared_bytes, stream>>>(
        static_cast<Parameters>(arguments)...);
    check_launch(reinterpret_cast<const void*>(kernel), cudaGetLastError());
}

/// Returns the block's dynamic shared memory.
template <typename T>
__device__ T* dynamic_shared() {
    extern __shared__ __align__(16) unsigned char mini_dynamic_shared[];
    return reinterpret_cast<T*>(mini_dynamic_shared);
}

#else

template <typename... Parameters, typename... Arguments>
void launch(void (*kernel)(Parameters...), Extents extents, cudaStream_t stream,
            Arguments... arguments) {
    if (extents.grid.x == 0 || extents.block.x == 0) return;
    const void* name = reinterpret_cast<const void*>(kernel);
    check_launch(
        name,
        enqueue_body({extents.grid, extents.block, extents.shared_bytes, stream}, name,
                     [kernel, ... values = static_cast<Parameters>(arguments)]()
                         MINI_UNCHECKED { kernel(values...); }));
}

template <typename T>
T* dynamic_shared() {
    return reinterpret_cast<T*>(sim::dynamic_shared());
}

#endif

}  // namespace mini::cuda
