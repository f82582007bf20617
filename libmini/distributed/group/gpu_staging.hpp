// A GPU's tensors for a backend that moves the host's memory.
//
//     caller's stream    ... kernels | copy out, event .................... | wait, kernels
//     own stream                                          copy in, event
//     communication      (queued)      waits for event -> collective
//
// Each tensor has a pinned one beside it. Nothing here makes the caller's host thread
// wait: its stream waits for the results, so that kernels that do not need them run on.

#pragma once

#include <memory>

#include "libmini/distributed/group/call.hpp"

namespace mini::dist {

class GpuStaging {
  public:
    /// Begins to copy what `call` reads to the host, in the order of the current stream of
    /// its tensors' device. REQUIRES: all tensors on that one device.
    explicit GpuStaging(const Call& call);
    ~GpuStaging();

    /// The same call on the host's memory.
    const Call& host_call() const { return host_call_; }

    /// Whether the host has what the call reads.
    bool has_inputs() const;

    /// Begins to copy what the call wrote back to the device.
    void give_back();

    /// Makes the calling thread's current stream wait for that. REQUIRES: give_back().
    void wait_on_stream() const;

  private:
    struct Places;

    Call call_;
    Call host_call_;
    std::unique_ptr<Places> places_;  // events and the stream, where there is CUDA
};

}  // namespace mini::dist
