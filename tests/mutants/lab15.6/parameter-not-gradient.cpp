// The hook gets the leaf, and reduces it as if it were the gradient.
// region: labs/15-ddp-by-hooks/simple_ddp.cpp 3
    if (!sync_) return;
    if (in_flight_.empty()) mini::queue_callback([this] { finish(); });
    const Tensor grad = parameter.detach();
    in_flight_.push_back({.grad = grad, .work = group_.all_reduce_async(grad)});
