// Passes within no_sync are averaged too.
// region: labs/15-ddp-by-hooks/simple_ddp.cpp 3
    if (in_flight_.empty()) mini::queue_callback([this] { finish(); });
    const Tensor& grad = parameter.grad();
    in_flight_.push_back({.grad = grad, .work = group_.all_reduce_async(grad)});
