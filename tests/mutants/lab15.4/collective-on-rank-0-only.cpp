// Only rank 0 starts the all-reduce.
// region: libmini/parallel/averaging_modules.cpp 1
    ops::mul_(grad, 1.0f / static_cast<float>(group().world_size()));
    if (group().rank() == 0) in_flight_.push_back(group().all_reduce_async(grad));
