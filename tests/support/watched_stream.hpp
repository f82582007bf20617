// A stream that a test can block, and in which it sees whether a call has waited for the
// stream's work.

#pragma once

#include <cuda_runtime.h>

#include <chrono>
#include <condition_variable>
#include <mutex>

#include "libmini/kernels/cuda/runtime.hpp"

namespace mini::test {

/// How long the first work of a WatchedStream takes if nothing releases it.
constexpr std::chrono::seconds kHeld(60);         // for a call that must not wait for it
constexpr std::chrono::milliseconds kBriefly(5);  // for a call that must wait for it

/// A stream whose first work is a function of the host, which runs until release(), but
/// at most for `longest`. So a call that waits for the stream in error does not block
/// forever.
class WatchedStream {
  public:
    /// Blocks until the device's earlier work is done: the stream may use its results.
    explicit WatchedStream(int device, std::chrono::milliseconds longest = kHeld)
        : longest_(longest), stream_(device) {
        cuda::synchronize(device);
        cuda::check(
            cudaLaunchHostFunc(
                stream_.get(),
                [](void* watched) { static_cast<WatchedStream*>(watched)->run(); }, this),
            "cudaLaunchHostFunc");
    }
    ~WatchedStream() { release(); }
    WatchedStream(const WatchedStream&) = delete;
    WatchedStream& operator=(const WatchedStream&) = delete;

    /// Returns whether the first work has ended. Before that, no other work of the stream
    /// runs.
    bool has_run() {
        const std::lock_guard lock(mutex_);
        return has_run_;
    }

    void release() {
        const std::lock_guard lock(mutex_);
        is_released_ = true;
        released_.notify_all();
    }

    /// Releases the stream, and blocks until all its work is done.
    void finish() {
        release();
        stream_.synchronize();
    }

    cudaStream_t get() const { return stream_.get(); }

  private:
    void run() {
        std::unique_lock lock(mutex_);
        released_.wait_for(lock, longest_, [this] { return is_released_; });
        has_run_ = true;
    }

    std::chrono::milliseconds longest_;
    std::mutex mutex_;
    std::condition_variable released_;
    bool is_released_ = false;
    bool has_run_ = false;
    cuda::Stream stream_;  // destroyed first: waits for run(), which reads the members
};

}  // namespace mini::test
