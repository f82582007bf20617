#include "libmini/parallel/comm_hooks.hpp"

#include "libmini/tensor/ops.hpp"

namespace mini::parallel {
namespace {

float share_of(const dist::ProcessGroup& group) {
    return 1.0f / static_cast<float>(group.world_size());
}

CommHook compress_hook(DType dtype) {
    return [dtype](const GradBucket& bucket, dist::ProcessGroup& group) -> FinishHook {
        // [lab18.1] Divide and round, note what is sent, and start the sum.
        Tensor buffer = bucket.buffer;
        ops::mul_(buffer, share_of(group));
        Tensor small = ops::to(buffer, dtype);
        if (Tensor sent = bucket.sent; sent.defined()) {
            ops::copy_(sent, ops::to(small, sent.dtype()));
            ops::mul_(sent, static_cast<float>(group.world_size()));
        }
        return [buffer, small, work = group.all_reduce_async(small)]() mutable {
            work->wait();
            ops::copy_(buffer, ops::to(small, buffer.dtype()));
        };
        // [lab18.1]
    };
}

}  // namespace

CommHook allreduce_hook() {
    return [](const GradBucket& bucket, dist::ProcessGroup& group) -> FinishHook {
        // [lab18.1] Divide, and start the sum; the function that finishes only waits.
        Tensor buffer = bucket.buffer;
        ops::mul_(buffer, share_of(group));
        return [work = group.all_reduce_async(buffer)] { work->wait(); };
        // [lab18.1]
    };
}

CommHook fp16_compress_hook() { return compress_hook(DType::kFloat16); }
CommHook bf16_compress_hook() { return compress_hook(DType::kBFloat16); }

}  // namespace mini::parallel
