// A copy of the gradient is reduced and divided; the gradient stays as it was.
// region: labs/15-ddp-by-hooks/simple_ddp.cpp 3
    if (!sync_) return;
    if (in_flight_.empty()) mini::queue_callback([this] { finish(); });
    const Tensor grad = mini::ops::clone(parameter.grad());
    in_flight_.push_back({.grad = grad, .work = group_.all_reduce_async(grad)});
