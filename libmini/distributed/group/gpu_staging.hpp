// Copies of GPU tensors in host memory, for a backend that moves only host memory.
//
//     caller's stream    ... kernels | copy out, event .................. | wait, kernels
//     own stream                                          copy in, event
//     communication      (queued)      waits for event -> collective
//
// Each tensor has a pinned host copy. The caller's host thread never waits here. Its
// stream waits for the results only in wait_on_stream(), so kernels queued before that
// keep running.

#pragma once

#include <memory>

#include "libmini/distributed/group/call.hpp"

namespace mini::dist {

class GpuStaging {
  public:
    /// Starts to copy the tensors that `call` reads to the host, after the work in the
    /// current stream of their device. REQUIRES: all tensors are on one device.
    explicit GpuStaging(const Call& call);
    ~GpuStaging();

    /// Returns the same call on the host tensors.
    const Call& host_call() const { return host_call_; }

    /// Returns whether the copy to the host is done.
    bool has_inputs() const;

    /// Starts to copy the outputs back to the device.
    void give_back();

    /// Makes the calling thread's current stream wait for that copy. REQUIRES:
    /// give_back() was called.
    void wait_on_stream() const;

  private:
    struct Events;

    Call call_;
    Call host_call_;
    std::unique_ptr<Events> events_;  // and the stream; null without CUDA
};

}  // namespace mini::dist
