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

}  // namespace mini::dist
