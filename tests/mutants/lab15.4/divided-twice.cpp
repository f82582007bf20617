// The gradient is divided, and the all-reduce averages again.
// region: libmini/parallel/averaging_modules.cpp 1
    ops::mul_(grad, 1.0f / static_cast<float>(group().world_size()));
    in_flight_.push_back(group().all_reduce_async(grad, dist::ReduceOp::kAvg));
