// Temporary device memory of one call, in stream order.
//
// Included only by .cu files.

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "libmini/kernels/cuda/allocator.hpp"
#include "libmini/kernels/cuda/contexts.hpp"

namespace mini::kernels::cuda {

struct Deallocate {
    void operator()(void* memory) const { mini::cuda::deallocate(memory); }
};

/// n uninitialized elements on the current device. The object may be destroyed while the
/// stream still uses them: only later work in the same stream reuses the memory.
template <typename T>
struct Scratch : std::unique_ptr<T[], Deallocate> {
    Scratch(int64_t n, cudaStream_t stream)
        : std::unique_ptr<T[], Deallocate>(static_cast<T*>(
              mini::cuda::allocate(static_cast<size_t>(n) * sizeof(T),
                                   mini::cuda::current_device(), stream))) {}
};

}  // namespace mini::kernels::cuda
