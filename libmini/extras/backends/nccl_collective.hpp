// How a collective of backend "nccl" is ordered on the device.
//
//     caller's stream     ... kernels | event .................... | wait, kernels
//     backend's stream                  wait, collective, event
//
// The host waits for neither event. It polls the second event to find out whether the
// device is done, and keeps the tensors until then, so that their memory is not reused.
//
// The launch order of collectives on a GPU: the call order, across all groups.
//
//     the rank's calls     A #4      B #9      A #5      B #10
//     group A's thread     A #4 ............ > A #5
//     group B's thread            > B #9 ............. > B #10
//
// An NCCL kernel waits on the device for the kernels of the other ranks. If two ranks
// launch the kernels of two communicators in different orders, and a device has no room
// for both kernels, the ranks deadlock: all ranks must launch in the same order (NCCL's
// user guide, "Using multiple NCCL communicators concurrently"). Each group launches on
// its own thread, so without LaunchPosition the order would depend on thread scheduling.
// As in PyTorch, only the launches are ordered: each kernel still waits for its caller's
// stream. NCCL_LAUNCH_ORDER_IMPLICIT=1 (NCCL 2.26 and later) makes the device keep the
// launch order too.

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "libmini/distributed/group/backend.hpp"
#include "libmini/kernels/cuda/runtime.hpp"

namespace mini::dist {

/// A position in the launch order of one device. While an object exists, has_come()
/// returns false for all later positions on its device.
class LaunchPosition {
  public:
    /// Takes the next position in the launch order of `device`.
    explicit LaunchPosition(int device);
    ~LaunchPosition();
    LaunchPosition(const LaunchPosition&) = delete;
    LaunchPosition& operator=(const LaunchPosition&) = delete;

    /// Returns whether all earlier positions on the device have been destroyed.
    bool has_come() const;

  private:
    int device_;
    uint64_t position_;
};

class NcclCollective : public GpuCollective {
  public:
    /// Records an event in this thread's current stream of GPU `device`: the collective
    /// runs after the work that is in that stream now.
    explicit NcclCollective(int device);

    void take_turn() override { turn_.emplace(device_); }
    void give_up_turn() noexcept override { turn_.reset(); }
    void wait_on_stream() const override;

    /// Returns whether all collectives before this one are launched. REQUIRES:
    /// take_turn() was called.
    bool has_turn() const { return turn_->has_come(); }

    /// Makes the backend's `stream` wait for the caller's event.
    void begin(cudaStream_t stream) { events_->begin.wait(stream); }

    /// Returns a function that returns whether the device has reached the caller's event:
    /// until then other work holds up the collective. The function may outlive this
    /// object, and keeps its events: on a device that hangs, destroying one may block.
    std::function<bool()> when_begun() const;

    /// Records the event that marks the end of the collective, in the backend's `stream`.
    void end(cudaStream_t stream) { events_->end.record(stream); }

    /// Returns whether the device has reached the end of the collective. Throws CudaError
    /// for an error on the device. REQUIRES: end() was called.
    bool is_done() const { return events_->end.query(); }

  private:
    struct Events {
        cuda::Event begin, end;
    };

    const int device_;
    const std::shared_ptr<Events> events_;
    std::optional<LaunchPosition> turn_;  // until the collective is launched
};

}  // namespace mini::dist
