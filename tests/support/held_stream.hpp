// A stream that is stuck for as long as a test wants it to be.

#pragma once

#include <cuda_runtime.h>

#include <atomic>

#include "libmini/kernels/cuda/runtime.hpp"

namespace mini::test {

// A stream whose device is not done before it is released.
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
    ~HeldStream() { let_go(); }

    void let_go() {
        held_ = false;
        held_.notify_all();
    }
    cudaStream_t get() const { return stream_.get(); }

  private:
    std::atomic<bool> held_ = true;
    cuda::Stream stream_;  // waits for the function, which reads the line above
};

}  // namespace mini::test
