// The Work is thrown away, so there is nothing to wait for.
// region: libmini/parallel/averaging_modules.cpp 1
    ops::mul_(grad, 1.0f / static_cast<float>(group().world_size()));
    static_cast<void>(group().all_reduce_async(grad));
