// Communication hooks: user-defined ways to average a bucket, instead of one all-reduce.
//
//     ddp.register_comm_hook(bf16_compress_hook());
//
// DDP calls a hook when the gradients of a bucket are ready on this rank. The hook starts
// the communication and returns a second function. DDP calls the second function at the
// end of the backward pass: it waits for the communication, and leaves the average in the
// bucket's buffer. Both functions are called on every rank in the order of the buckets,
// so each of the two functions may run several collectives. The GradBucket exists only
// during the first call: the second function needs a copy of it, or of its tensors.

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
    Tensor buffer;                   // 1-D, this rank's gradients, not yet divided
    std::vector<Tensor> gradients;   // views of `buffer`
    std::vector<Tensor> parameters;  // parameters[i] has the gradient gradients[i]

    // For error_feedback_hook, else undefined: a copy of `buffer`, which a hook that
    // loses information replaces by what it sends of this rank's gradients. The mean of
    // `sent` over the ranks is what the hook leaves in the buffer, up to rounding.
    Tensor sent = {};
};

/// Waits for the communication; afterwards the buffer holds the average. A hook that sets
/// the parameters' gradients itself may free the buffer (Tensor::free_storage) instead:
/// the next pass allocates it again.
using FinishHook = std::function<void()>;

/// Starts the communication of one bucket, and returns the function that waits for it.
using CommHook =
    std::function<FinishHook(const GradBucket& bucket, dist::ProcessGroup& group)>;

/// Returns a hook that divides by the number of ranks, then sums over the ranks, as DDP
/// does without a hook (`default_hooks.allreduce_hook`).
CommHook allreduce_hook();

/// Returns a hook like allreduce_hook that sends float16 or bfloat16, half the bytes: it
/// rounds the quotients before they are sent, and each partial sum again; what this rank
/// has sent is its rounded quotient times the number of ranks
/// (`default_hooks.fp16_compress_hook`, `bf16_compress_hook`, which round before they
/// divide). In float16 a quotient or partial sum beyond 65504 becomes infinite; bfloat16
/// has the range of float32.
CommHook fp16_compress_hook();
CommHook bf16_compress_hook();

}  // namespace mini::parallel
