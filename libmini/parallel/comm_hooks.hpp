// Communication hooks: other ways to average a bucket than one all-reduce.
//
//     ddp.register_comm_hook(bf16_compress_hook());
//
// A hook starts the communication of a bucket, when its gradients are ready on this rank,
// and returns what finishes it, when the backward pass is over: waits, and leaves the
// average in the bucket's buffer. Both are called on every rank in the order of the
// buckets, so a hook may run several collectives, in either half.

#pragma once

#include <functional>
#include <vector>

#include "libmini/distributed/group/process_group.hpp"
#include "libmini/tensor/tensor.hpp"

namespace mini::parallel {

/// What a hook sees of a bucket (`torch.distributed.GradBucket`). Tensors share storage
/// with the bucket.
struct GradBucket {
    size_t index = 0;
    bool is_last = false;
    Tensor buffer;                   // one dimension, this rank's gradients, undivided
    std::vector<Tensor> gradients;   // views of it
    std::vector<Tensor> parameters;  // whose gradients they are
};

/// Waits for the communication; afterwards the buffer holds the average.
using FinishHook = std::function<void()>;
using CommHook =
    std::function<FinishHook(const GradBucket& bucket, dist::ProcessGroup& group)>;

/// Divides by the number of ranks, then sums over them: what DDP does without a hook
/// (`default_hooks.allreduce_hook`).
CommHook allreduce_hook();

/// The same with gradients that travel as float16 or bfloat16, half the bytes: the
/// quotient is rounded before, each partial sum in between
/// (`default_hooks.fp16_compress_hook`, `bf16_compress_hook`). A gradient beyond 65504
/// becomes infinite in float16, never in bfloat16.
CommHook fp16_compress_hook();
CommHook bf16_compress_hook();

}  // namespace mini::parallel
