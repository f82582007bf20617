// The gradient is changed while the all-reduce may already read it.
// region: libmini/parallel/averaging_modules.cpp 1
    in_flight_.push_back(group().all_reduce_async(grad));
    ops::mul_(grad, 1.0f / static_cast<float>(group().world_size()));
