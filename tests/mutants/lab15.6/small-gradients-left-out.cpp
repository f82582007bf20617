// A rank whose gradient is small saves its all-reduce, which the others wait for.
// region: labs/15-ddp-by-hooks/simple_ddp.cpp 3
    if (!sync_) return;
    if (in_flight_.empty()) mini::queue_callback([this] { finish(); });
    const Tensor& grad = parameter.grad();
    const auto values = grad.to_vector<float>();
    bool any = false;
    for (const float value : values) any = any || value > 1.0f;
    if (any || group_.world_size() == 1)
        in_flight_.push_back({.grad = grad, .work = group_.all_reduce_async(grad)});
