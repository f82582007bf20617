// The order in which collectives go to a GPU: that of their calls, whatever group they are of.
//
//     the rank's calls     A #4      B #9      A #5      B #10
//     group A's thread     A #4 ............ > A #5
//     group B's thread            > B #9 ............. > B #10
//
// NCCL's kernels wait on the device for those of the other ranks. Where two communicators'
// kernels come in one order here and in another there, and a device has no room for both, none
// of them ends: ranks are to call them in one order (NCCL's user guide, "Using multiple NCCL
// communicators concurrently"). But each group has a thread of its own, so that without this it
// would be luck which of two calls is first. As in PyTorch this is the order of the launches:
// each still waits for its caller's stream, and NCCL_LAUNCH_ORDER_IMPLICIT=1 (from NCCL 2.26 on)
// makes the device keep it as well.

#pragma once

#include <cstdint>

namespace mini::dist {

/// A place in that order; while it lives, no later one's turn comes.
class GpuTurn {
  public:
    /// After all places on the device that were taken before.
    explicit GpuTurn(int device);
    ~GpuTurn();
    GpuTurn(const GpuTurn&) = delete;
    GpuTurn& operator=(const GpuTurn&) = delete;

    /// Whether those are given up.
    bool has_come() const;

  private:
    int device_;
    uint64_t place_;
};

}  // namespace mini::dist
