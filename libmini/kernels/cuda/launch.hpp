// The one way to start a kernel, the same for nvcc and for the simulator.
//
//     launch(scale_kernel, {.grid = blocks(n, 256), .block = 256}, stream, x, alpha, n);
//
// Included by .cu files alone.

#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <utility>

#include "libmini/kernels/cuda/runtime.hpp"

namespace mini::cuda {

struct Extents {
    dim3 grid;
    dim3 block;
    size_t shared_bytes = 0;
};

/// a / b, rounded up.
constexpr __host__ __device__ int64_t ceil_div(int64_t a, int64_t b) {
    return (a + b - 1) / b;
}

/// How many blocks of `threads` cover n items. Throws Error for more than a grid can have.
unsigned blocks(int64_t n, int64_t threads);

#if defined(__CUDACC__)

/// Starts `kernel` on `stream` and returns. An error of the launch is thrown with the
/// kernel's name; an error while it runs, by the next call that waits. An empty grid or
/// block is nothing to do.
template <typename... Parameters, typename... Arguments>
void launch(void (*kernel)(Parameters...), Extents at, cudaStream_t stream,
            Arguments... arguments) {
    if (at.grid.x == 0 || at.block.x == 0) return;
    kernel<<<at.grid, at.block, at.shared_bytes, stream>>>(
        static_cast<Parameters>(arguments)...);
    check_launch(reinterpret_cast<const void*>(kernel), cudaGetLastError());
}

/// The block's dynamic shared memory.
template <typename T>
__device__ T* dynamic_shared() {
    extern __shared__ __align__(16) unsigned char mini_dynamic_shared[];
    return reinterpret_cast<T*>(mini_dynamic_shared);
}

#else

template <typename... Parameters, typename... Arguments>
void launch(void (*kernel)(Parameters...), Extents at, cudaStream_t stream,
            Arguments... arguments) {
    if (at.grid.x == 0 || at.block.x == 0) return;
    const void* name = reinterpret_cast<const void*>(kernel);
    check_launch(name,
                 sim::enqueue({.grid = at.grid,
                               .block = at.block,
                               .shared_bytes = at.shared_bytes,
                               .kernel = name,
                               .body = [kernel, ... values = static_cast<Parameters>(
                                                    arguments)] { kernel(values...); }},
                              stream));
}

template <typename T>
T* dynamic_shared() {
    return reinterpret_cast<T*>(sim::dynamic_shared());
}

#endif

}  // namespace mini::cuda
