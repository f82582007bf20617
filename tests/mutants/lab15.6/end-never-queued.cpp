// finish() is never called.
// region: labs/15-ddp-by-hooks/simple_ddp.cpp 3
    if (!sync_) return;
    const Tensor& grad = parameter.grad();
    in_flight_.push_back({.grad = grad, .work = group_.all_reduce_async(grad)});
