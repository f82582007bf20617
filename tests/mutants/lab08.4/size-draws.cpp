// size() makes the batches to count them, which draws an order.
// region: libmini/data/batch_sampler.cpp 2
    static_cast<void>(n);
    return static_cast<int64_t>(batches().size());
