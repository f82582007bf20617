// The position is the last batch that was trained on, not the next.
// region: labs/09-distributed-sampler/epoch_position.cpp 2
    const int64_t batches = batches_per_epoch(division);
    const int64_t last = steps > 0 ? steps - 1 : 0;
    return {.epoch = last / batches, .batch = last % batches};
