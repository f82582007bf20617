// Stream order of an operation on GPU tensors that the backend moves itself, in its own
// stream.
//
//     caller's stream     ... kernels | event .................... | wait, kernels
//     backend's stream                  wait, collective, event
//
// The host does not wait for either event. It polls the second one to see that the device
// is done, and keeps the tensors until then, so that their memory is not reused.

#pragma once

#include <memory>

#include "libmini/distributed/group/call.hpp"
#include "libmini/kernels/cuda/runtime.hpp"

namespace mini::dist {

/// Orders one operation between the caller's stream and the backend's.
class GpuOrder {
  public:
    /// Puts the operation after the work that this thread's current stream of `device`
    /// holds now.
    explicit GpuOrder(Device device);
    ~GpuOrder();

    /// Makes `stream`, the backend's, wait for that work.
    void begin(cudaStream_t stream);

    /// Marks the end of the operation at the current end of `stream`, the backend's.
    void end(cudaStream_t stream);

    /// Returns whether the device has reached the end of the operation. Throws CudaError
    /// for an error on the device. REQUIRES: end() was called.
    bool is_done() const;

    /// Makes the calling thread's current stream wait for the end. REQUIRES: end() was
    /// called.
    void wait_on_stream() const;

  private:
    struct Events;
    std::unique_ptr<Events> events_;  // null without CUDA
};

/// While an object exists, freeing a tensor on this thread does not wait for a GPU
/// (cuda::set_frees_later).
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

/// Returns whether the tensors of `call` are on a GPU.
bool is_on_gpu(const Call& call);

/// Throws UsageError if the caller's stream is being captured in a CUDA graph: the graph
/// would contain the events of the call, but not the call. REQUIRES: is_on_gpu(call).
void check_not_capturing(const Call& call);

}  // namespace mini::dist
