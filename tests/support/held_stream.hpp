// A stream that a test can block.

#pragma once

#include <cuda_runtime.h>

#include <atomic>

#include "libmini/kernels/cuda/runtime.hpp"

namespace mini::test {

/// A stream whose work does not run before release() or the destructor.
class HeldStream {
  public:
    explicit HeldStream(int device) : stream_(device) {
        cuda::check(
            cudaLaunchHostFunc(
                stream_.get(),
                [](void* held) { static_cast<std::atomic<bool>*>(held)->wait(true); },
                &held_),
            "cudaLaunchHostFunc");
    }
    ~HeldStream() { release(); }

    void release() {
        held_ = false;
        held_.notify_all();
    }
    cudaStream_t get() const { return stream_.get(); }

  private:
    std::atomic<bool> held_ = true;
    cuda::Stream stream_;  // destroyed first: waits for the function, which reads held_
};

}  // namespace mini::test
