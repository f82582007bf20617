// Communication hooks: user-defined ways to average a bucket, instead of one all-reduce.
//
//     ddp.register_comm_hook(bf16_compress_hook());
//
// DDP calls a hook when the gradients of a bucket are ready on this rank. The hook starts
// the communication and returns a second function, which DDP calls at the end of the
// backward pass: it waits, and leaves the average in the bucket's buffer. Both functions
// are called on every rank in the order of the buckets, so each may run several
// collectives.

#pragma once

#include <functional>
#include <vector>

#include "libmini/distributed/group/process_group.hpp"
#include "libmini/tensor/tensor.hpp"

namespace mini::parallel {

/// The argument of a hook (`torch.distributed.GradBucket`). `buffer` and `gradients`
/// share storage with the bucket.
struct GradBucket {
    size_t index = 0;
    bool is_last = false;
    Tensor buffer;                   // one dimension, this rank's gradients, undivided
    std::vector<Tensor> gradients;   // views of `buffer`
    std::vector<Tensor> parameters;  // parameters[i] has the gradient gradients[i]
};

/// Waits for the communication; afterwards the buffer holds the average.
using FinishHook = std::function<void()>;
using CommHook =
    std::function<FinishHook(const GradBucket& bucket, dist::ProcessGroup& group)>;

/// Divides by the number of ranks, then sums over the ranks, as DDP does without a hook
/// (`default_hooks.allreduce_hook`).
CommHook allreduce_hook();

/// Like allreduce_hook, but sends gradients as float16 or bfloat16, which halves the
/// bytes: the quotient is rounded before it is sent, and each partial sum is rounded too
/// (`default_hooks.fp16_compress_hook`, `bf16_compress_hook`). A gradient beyond 65504
/// becomes infinite in float16, never in bfloat16.
CommHook fp16_compress_hook();
CommHook bf16_compress_hook();

}  // namespace mini::parallel
