// Device memory for the length of one call, in the order of its stream.
//
// Included by .cu files alone.

#pragma once

#include <cstddef>
#include <cstdint>

#include "libmini/kernels/cuda/allocator.hpp"
#include "libmini/kernels/cuda/contexts.hpp"

namespace mini::kernels::cuda {

/// n elements, not set to anything, on the current device. They go back when this does,
/// while the stream may still be at work on them: who gets them next, comes after.
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
