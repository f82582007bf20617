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

#include "libmini/parallel/bucket.hpp"
#include "libmini/parallel/comm_hooks.hpp"
#include "libmini/parallel/zero.hpp"

namespace mini::parallel {

/// Returns a hook that averages each gradient on the owner of its parameter only. After
/// backward() a rank's own parameters have averaged gradients, in memory of their own;
/// the gradients of all other parameters are undefined, and the buckets are freed. The
/// hook waits for a bucket when the next bucket is launched. REQUIRES: the parameters of
/// DDP are parameters of `optimizer`; zero_grad() before each backward() that averages.
/// Use one hook for one DDP.
CommHook reduce_scatter_hook(const ZeroRedundancyOptimizer& optimizer);

// ---- the parts of the hook

/// The gradients that one bucket has for one owner, during their reduction.
struct GradientPart {
    int owner;
    Bucket gradients;  // of bucket.parameters[k], for each k in gradients.indices()
    dist::WorkHandle work;
};

/// Starts one reduction for each rank that owns parameters of `bucket`, in the order of
/// the ranks. Each reduces a copy of the owner's gradients, and leaves their average on
/// the owner (ReduceOp::kAvg). owners[k] is the owner of bucket.parameters[k]. Does not
/// block; does not change the bucket. Every rank must call it.
std::vector<GradientPart> start_reductions(const GradBucket& bucket,
                                           const std::vector<int>& owners,
                                           dist::ProcessGroup& group);

/// Blocks until all reductions are done; then removes all parts. A tensor that shares a
/// part's memory keeps this memory alive.
void finish_reductions(std::vector<GradientPart>& parts);

/// Sets the gradients of the parameters that `rank` owns to the views of their part, and
/// the gradients of all other parameters of the bucket to undefined tensors. Then frees
/// the bucket's memory (Tensor::free_storage). The reductions may be in flight: the views
/// have the averages when these are done.
void keep_own_gradients(const std::vector<GradientPart>& parts, const GradBucket& bucket,
                        int rank);

}  // namespace mini::parallel
