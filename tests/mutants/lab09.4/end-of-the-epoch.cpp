// After the last batch of an epoch, the position is the end of that epoch.
// region: labs/09-distributed-sampler/epoch_position.cpp 2
    const int64_t batches = batches_per_epoch(division);
    if (steps == 0) return {};
    return {.epoch = (steps - 1) / batches, .batch = (steps - 1) % batches + 1};
