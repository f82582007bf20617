// The hook waits for its all-reduce: nothing overlaps.
// region: labs/15-ddp-by-hooks/simple_ddp.cpp 3
    if (!sync_) return;
    if (in_flight_.empty()) mini::queue_callback([this] { finish(); });
    const Tensor& grad = parameter.grad();
    in_flight_.push_back({.grad = grad, .work = group_.all_reduce_async(grad)});
    in_flight_.back().work->wait();
