// The sum is averaged by kAvg, which divides after it may have overflowed.
// region: libmini/parallel/averaging_modules.cpp 1
    in_flight_.push_back(group().all_reduce_async(grad, dist::ReduceOp::kAvg));
