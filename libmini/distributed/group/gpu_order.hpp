// How an operation on GPU tensors is ordered on the device, if the backend moves the
// tensors itself, in its own stream.
//
//     caller's stream     ... kernels | event .................... | wait, kernels
//     backend's stream                  wait, collective, event
//
// The host waits for neither event. It polls the second event to find out whether the
// device is done, and keeps the tensors until then, so that their memory is not reused.

#pragma once

#include <functional>
#include <memory>

#include "libmini/distributed/group/call.hpp"
#include "libmini/kernels/cuda/runtime.hpp"

namespace mini::dist {

/// Orders one operation between the caller's stream and the backend's stream.
class GpuOrder {
  public:
    /// Records an event in this thread's current stream of `device`: the operation runs
    /// after the work that is in that stream now.
    explicit GpuOrder(Device device);
    ~GpuOrder();

    /// Makes the backend's `stream` wait for that event.
    void begin(cudaStream_t stream);

    /// Returns a function that returns whether the device has reached that event: until
    /// then other work holds up the operation. The function may outlive this object.
    std::function<bool()> when_begun() const;

    /// Records the event that marks the end of the operation, in the backend's `stream`.
    void end(cudaStream_t stream);

    /// Returns whether the device has reached the end of the operation. Throws CudaError
    /// for an error on the device. REQUIRES: end() was called.
    bool is_done() const;

    /// Makes the calling thread's current stream wait for the end of the operation; does
    /// not block. REQUIRES: end() was called.
    void wait_on_stream() const;

  private:
    struct Events;
    std::shared_ptr<Events> events_;  // null without CUDA
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

/// Returns whether the tensors of `call` are on a GPU.
bool is_on_gpu(const Call& call);

}  // namespace mini::dist
