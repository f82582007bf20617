#include "libmini/parallel/comm_hooks.hpp"

#include "libmini/tensor/ops.hpp"

namespace mini::parallel {
namespace {

float share_of(const dist::ProcessGroup& group) {
    return 1.0f / static_cast<float>(group.world_size());
}

CommHook compress_hook(DType dtype) {
    return [dtype](const GradBucket& bucket, dist::ProcessGroup& group) -> FinishHook {
        Tensor buffer = bucket.buffer;
        ops::mul_(buffer, share_of(group));
        Tensor small = ops::to(buffer, dtype);
        return [buffer, small, work = group.all_reduce_async(small)]() mutable {
            work->wait();
            ops::copy_(buffer, ops::to(small, buffer.dtype()));
        };
    };
}

}  // namespace

CommHook allreduce_hook() {
    return [](const GradBucket& bucket, dist::ProcessGroup& group) -> FinishHook {
        Tensor buffer = bucket.buffer;
        ops::mul_(buffer, share_of(group));
        return [work = group.all_reduce_async(buffer)] { work->wait(); };
    };
}

CommHook fp16_compress_hook() { return compress_hook(DType::kFloat16); }
CommHook bf16_compress_hook() { return compress_hook(DType::kBFloat16); }

}  // namespace mini::parallel
