// A GPU's tensors for a backend that moves them itself, in a stream of its own.
//
//     caller's stream     ... kernels | event .................... | wait, kernels
//     backend's stream                  wait, collective, event
//
// The host waits for neither: it learns from the second event that the device is done,
// and keeps the tensors until then, so that their memory is not reused.

#pragma once

#include <memory>

#include "libmini/distributed/group/call.hpp"
#include "libmini/kernels/cuda/runtime.hpp"

namespace mini::dist {

/// The place of one operation between the streams.
class GpuOrder {
  public:
    /// The operation comes after what this thread's current stream of `device` holds now.
    explicit GpuOrder(Device device);
    ~GpuOrder();

    /// Makes the backend's stream wait for that.
    void begin(cudaStream_t stream);

    /// The operation ends where the backend's stream is now.
    void end(cudaStream_t stream);

    /// Whether the device is past the end. Throws CudaError for what went wrong on it.
    /// REQUIRES: end().
    bool is_done() const;

    /// Makes the calling thread's current stream wait for the end. REQUIRES: end().
    void wait_on_stream() const;

  private:
    struct Places;
    std::unique_ptr<Places> places_;  // events, where there is CUDA
};

/// While it lives, tensors that this thread frees do not make it wait for a GPU
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

/// Whether a call's tensors are on a GPU.
bool is_on_gpu(const Call& call);

/// Throws UsageError where the caller's stream is recorded in a CUDA graph, which would
/// hold the place of the call but not the call. REQUIRES: is_on_gpu.
void check_not_recorded(const Call& call);

}  // namespace mini::dist
