// Backend "nccl": NVIDIA's collectives between GPUs, one rank a GPU.
//
//     tensors on the GPU     NCCL, in a stream of the backend's own (gpu_order.hpp)
//     tensors on the host,   our own algorithms, over the side channel
//     barriers
//     from point to point    the same, a GPU's by way of the host (gpu_staging.hpp)
//
// Communicators are non-blocking: each call returns at once, and ncclCommGetAsyncError is
// asked until its kernel is in the stream, and while it runs there. When a rank is gone, or
// a deadline passes, every other one aborts its communicator, which frees the kernels that
// wait. Collectives of several groups on one GPU go to it in the order of their calls
// (gpu_turn.hpp), which is to be one on all ranks. They cannot be captured in a CUDA graph:
// another thread issues them.

#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "libmini/distributed/group/queued_group.hpp"
#include "libmini/distributed/transport/mesh.hpp"

namespace mini::dist {

/// "" when this build has the backend; else how to get it.
std::string why_no_nccl();

/// "" when each rank has a GPU of its own; else which one is shared by whom: "GPU 0 is
/// used by ranks 0 and 1: NCCL 2.28 cannot ...". `gpus` names each rank's, by rank.
std::string shared_gpu_fault(const std::vector<std::string>& gpus,
                             const std::string& version);

/// Meets the other ranks and makes a communicator on the thread's default device, or, if that
/// is the CPU, on GPU LOCAL_RANK. Throws Error when there is none or two ranks share one;
/// UsageError when the build lacks the backend.
std::shared_ptr<QueuedGroup> make_nccl_group(const RendezvousConfig& config, bool verify,
                                             std::chrono::milliseconds timeout);

}  // namespace mini::dist
