// Backend "nccl": NVIDIA's collectives between GPUs, one rank per GPU.
//
//     tensors on the GPU     NCCL, in the backend's own stream (gpu_order.hpp)
//     tensors on the host,   our own algorithms, over the side channel
//     barriers
//     point to point         the side channel, GPU tensors by way of gpu_staging.hpp
//
// Communicators are non-blocking: each call returns immediately, and
// ncclCommGetAsyncError is polled until the kernel is in the stream, and while it runs.
// If a rank is lost or a deadline passes, every other rank aborts its communicator, which
// ends the waiting kernels. Collectives of several groups on one GPU are launched in call
// order (launch_position.hpp), which must be the same on all ranks. They cannot be captured in a
// CUDA graph: another thread launches them.

#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "libmini/distributed/group/queued_group.hpp"
#include "libmini/distributed/transport/mesh.hpp"

namespace mini::dist {

/// Returns "" if this build has the backend, else how to install it.
std::string why_no_nccl();

/// Returns "" if each rank has its own GPU, else an error message that names the shared
/// GPU and its ranks: "GPU 0 is used by ranks 0 and 1: NCCL 2.28 cannot ...". `gpus`: the
/// name of each rank's GPU.
std::string shared_gpu_fault(const std::vector<std::string>& gpus,
                             const std::string& version);

/// Connects to the other ranks and creates a communicator on the thread's default device,
/// or, if that is the CPU, on GPU LOCAL_RANK. Throws Error if there is no GPU or two
/// ranks share one; UsageError if the build lacks the backend.
std::shared_ptr<QueuedGroup> make_nccl_group(const RendezvousConfig& config, bool verify,
                                             std::chrono::milliseconds timeout);

}  // namespace mini::dist
