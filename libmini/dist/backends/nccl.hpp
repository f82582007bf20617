// Backend "nccl": NVIDIA's collectives between GPUs, one rank a GPU.
//
// Communicators are non-blocking: each call returns at once, and ncclCommGetAsyncError is
// asked, beside the side channel, until the communicator and the stream are done; when a
// rank is gone every other one aborts its communicator, which frees kernels that wait.

#pragma once

#include <memory>
#include <string>
#include <vector>

#include "libmini/dist/mesh.hpp"
#include "libmini/dist/queued_group.hpp"

namespace mini::dist {

/// "" when this build has the backend; else how to get it.
std::string why_no_nccl();

/// "" when each rank has a GPU of its own; else which one is shared by whom: "GPU 0 is
/// used by ranks 0 and 1: NCCL 2.28 cannot ...". `gpus` names each rank's, by rank.
std::string shared_gpu_fault(const std::vector<std::string>& gpus,
                             const std::string& version);

/// Meets the other ranks and makes a communicator on GPU LOCAL_RANK. Throws Error when
/// there is none or two ranks share one; UsageError when the build lacks the backend.
std::shared_ptr<QueuedGroup> make_nccl_group(const Meeting& meeting, bool verify,
                                             std::chrono::milliseconds timeout);

}  // namespace mini::dist
