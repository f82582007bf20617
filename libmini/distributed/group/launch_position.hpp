// The launch order of collectives on a GPU: call order, across all groups.
//
//     the rank's calls     A #4      B #9      A #5      B #10
//     group A's thread     A #4 ............ > A #5
//     group B's thread            > B #9 ............. > B #10
//
// An NCCL kernel waits on the device for the kernels of the other ranks. If two
// communicators' kernels are launched in different orders on two ranks, and a device has
// no room for both, they deadlock: all ranks must launch them in the same order (NCCL's
// user guide, "Using multiple NCCL communicators concurrently"). But each group has its
// own thread, so without LaunchPosition the launch order of calls to two groups would depend on
// thread scheduling. As in PyTorch, only the launches are ordered: each kernel still
// waits for its caller's stream, and NCCL_LAUNCH_ORDER_IMPLICIT=1 (NCCL 2.26 and later)
// makes the device keep the order too.

#pragma once

#include <cstdint>

namespace mini::dist {

/// A position in the launch order. While it exists, has_come() is false for all later
/// positions on the device.
class LaunchPosition {
  public:
    /// Takes the next position on `device`.
    explicit LaunchPosition(int device);
    ~LaunchPosition();
    LaunchPosition(const LaunchPosition&) = delete;
    LaunchPosition& operator=(const LaunchPosition&) = delete;

    /// Returns whether all earlier positions on the device are released.
    bool has_come() const;

  private:
    int device_;
    uint64_t position_;
};

}  // namespace mini::dist
