// ZeRO, stage 2: each rank keeps the averaged gradients of its own parameters only.
//
//     bucket           [ fc2.b  fc2.w  fc1.b  fc1.w ]     full: this rank's gradients
//     owner                1      1      1      0
//     one part each    [ fc2.b  fc2.w  fc1.b ] [ fc1.w ]
//     reduce           ---- to rank 1 ------>  to rank 0
//     on rank 0        (freed)                 [ fc1.w ]  averaged, until zero_grad()
//
// This is a reduce-scatter whose parts have different sizes, since a parameter has one
// owner: one reduce per owner. (For such parts, PyTorch's NCCL backend does the same in
// reduce_scatter.) Each rank sends n (P-1)/P floats on average, half of an all-reduce;
// the broadcasts of the new parameters are the other half. At most one bucket is in
// flight, so that a rank needs memory for its own part and two buckets.
//
// Rajbhandari et al. 2020, ZeRO: Memory Optimizations Toward Training Trillion Parameter
// Models.

#pragma once

#include <vector>

#include "libmini/parallel/comm_hooks.hpp"
#include "libmini/parallel/zero.hpp"

namespace mini::parallel {

/// Starts one reduction for each rank that owns parameters of the bucket, in the order of
/// the ranks; owners[k] is the owner of bucket.parameters[k]. Each reduces a copy of all
/// gradients of the owner, in one buffer, and leaves their average on the owner
/// (ReduceOp::kAvg). Does not block, and does not change the bucket's buffer. Every rank
/// must call it.
///
/// Sets the gradients of the bucket's parameters: those of this rank's own parameters are
/// views of the copy, which have the averages when the reduction has ended, and all others
/// are undefined. Returns a function that blocks until all reductions have ended, and then
/// frees the copies for other ranks; further calls do nothing.
FinishHook reduce_to_owners(const GradBucket& bucket, const std::vector<int>& owners,
                            dist::ProcessGroup& group);

/// Returns a hook that averages each gradient on the owner of its parameter only, by
/// reduce_to_owners(). After backward() a rank's own parameters have averaged gradients, in
/// memory of their own; the gradients of all other parameters are undefined. The hook first
/// waits for the bucket before this one, so that one bucket at a time is in flight; the
/// bucket's memory is freed (Tensor::free_storage) before the hook returns. REQUIRES: the
/// parameters of DDP are parameters of `optimizer`, which lives as long as the hook;
/// zero_grad() before each backward() that averages. Use one hook for one DDP.
CommHook reduce_scatter_hook(const ZeroRedundancyOptimizer& optimizer);

}  // namespace mini::parallel
