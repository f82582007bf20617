// The gradients are summed and not divided.
// region: libmini/parallel/averaging_modules.cpp 1
    in_flight_.push_back(group().all_reduce_async(grad));
