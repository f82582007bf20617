// The parameter is averaged instead of its gradient.
// region: libmini/parallel/averaging_modules.cpp 1
    const Tensor parameter = trained()[index].second.detach();
    in_flight_.push_back(group().all_reduce_async(parameter, dist::ReduceOp::kAvg));
