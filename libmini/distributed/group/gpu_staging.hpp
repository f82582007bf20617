// Copies of GPU tensors in host memory, for a backend that moves only host memory.
//
//     caller's stream    ... kernels | copy out, event .................. | wait, kernels
//     copy stream                                         copy in, event
//     communication      (queued)      waits for event -> collective
//
// Each tensor has a pinned host copy. No function here blocks the caller's host thread.
// The caller's stream waits for the results from wait_on_stream() on; kernels queued
// before that call keep running.

#pragma once

#include <memory>

#include "libmini/distributed/group/call.hpp"

namespace mini::dist {

class GpuStaging {
  public:
    /// Starts to copy the tensors that `call` reads to the host, in the current stream of
    /// their device. REQUIRES: all tensors are on one device.
    explicit GpuStaging(const Call& call);
    ~GpuStaging();

    /// Returns `call` with the host copies in place of the GPU tensors.
    const Call& host_call() const { return host_call_; }

    /// Returns whether the copy to the host is done.
    bool has_inputs() const;

    /// Starts to copy the outputs back to the device. REQUIRES: the collective is done.
    void give_back();

    /// Makes the calling thread's current stream wait for the copy back; does not block.
    /// REQUIRES: give_back() was called.
    void wait_on_stream() const;

  private:
    struct Events;

    Call call_;
    Call host_call_;
    std::unique_ptr<Events> events_;  // and the copy stream; null without CUDA
};

}  // namespace mini::dist
