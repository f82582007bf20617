// Backend "nccl": NVIDIA's collectives between GPUs, one rank per GPU.
//
//     tensors on the GPU     NCCL, in the backend's own stream (nccl_collective.hpp)
//     tensors on the host,   our own algorithms (collectives/), over the side channel
//     barriers
//     point to point         the side channel; GPU tensors are copied to the host and
//                            back (gpu_staging.hpp)
//
// Communicators are non-blocking: each NCCL call returns immediately, and the
// communication thread polls ncclCommGetAsyncError until the kernel is in the stream, and
// while the kernel runs. If a rank is lost or a deadline passes, every other rank aborts
// its communicator, which ends the waiting kernels. Collectives of several groups on one
// GPU are launched in call order (nccl_collective.hpp), which must be the same on all
// ranks.
//
// Not tried yet: several GPUs. One rank has run over NCCL on a GPU; more ranks have run
// only over the fake NCCL of tests/extras/backends/nccl, on the simulator.

#pragma once

#include <chrono>
#include <memory>

#include "libmini/distributed/group/queued_group.hpp"
#include "libmini/distributed/transport/mesh.hpp"

namespace mini::dist {

/// Registers the backend (backends/registry.hpp).
void use_nccl();

/// Connects to the other ranks and creates a group on the calling thread's default
/// device. If that device is the CPU, uses GPU LOCAL_RANK (or the rank, if LOCAL_RANK is
/// not set) modulo the number of GPUs. Blocks until all ranks are connected. `verify`:
/// see SideChannel. Throws Error if there is no GPU or two ranks share a GPU;
/// otherwise as make_ring_group does.
std::shared_ptr<QueuedGroup> make_nccl_group(const RendezvousConfig& config, bool verify,
                                             std::chrono::milliseconds timeout);

}  // namespace mini::dist
