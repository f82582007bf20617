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
    /// Replaces the GPU tensors of `call` by host copies, and starts to copy the tensors
    /// that `call` reads, in the current stream of their device. REQUIRES: all tensors
    /// are contiguous and on one device.
    explicit GpuStaging(Call& call);
    ~GpuStaging();

    /// Returns whether the copy to the host is done.
    bool has_inputs() const;

    /// Starts to copy the outputs of `host`, the call with the host copies, to those of
    /// `call`. REQUIRES: the operation is done.
    void give_back(const Call& host, const Call& call);

    /// Makes the calling thread's current stream wait for the copy back; does not block.
    /// REQUIRES: give_back() was called.
    void wait_on_stream() const;

  private:
    struct Events;

    std::unique_ptr<Events> events_;  // and the copy stream; null without CUDA
};

/// While an object of this class exists, freeing a tensor on this thread does not wait
/// for a GPU (cuda::set_frees_later).
class DeferredFreeScope {
  public:
    DeferredFreeScope() : before_(set(true)) {}
    ~DeferredFreeScope() { set(before_); }
    DeferredFreeScope(const DeferredFreeScope&) = delete;
    DeferredFreeScope& operator=(const DeferredFreeScope&) = delete;

  private:
    static bool set(bool on);

    bool before_;
};

}  // namespace mini::dist
