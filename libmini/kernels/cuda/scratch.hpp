// Temporary device memory of one call, in stream order.
//
// Included only by .cu files.

#pragma once

#include <cstddef>
#include <cstdint>

#include "libmini/kernels/cuda/allocator.hpp"
#include "libmini/kernels/cuda/contexts.hpp"

namespace mini::kernels::cuda {

/// n uninitialized elements on the current device. The object may be destroyed while the
/// stream still uses them: only later work in the same stream reuses the memory.
template <typename T>
class Scratch {
  public:
    Scratch(int64_t n, cudaStream_t stream) {
        if (n == 0) return;
        data_ = static_cast<T*>(mini::cuda::allocate(
            static_cast<size_t>(n) * sizeof(T), mini::cuda::current_device(), stream));
    }
    ~Scratch() {
        if (data_ != nullptr) mini::cuda::deallocate(data_);
    }
    Scratch(const Scratch&) = delete;
    Scratch& operator=(const Scratch&) = delete;

    T* get() const { return data_; }

  private:
    T* data_ = nullptr;
};

}  // namespace mini::kernels::cuda
