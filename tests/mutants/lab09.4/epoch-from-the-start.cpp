// A job goes on at the beginning of the epoch that was interrupted.
// region: labs/09-distributed-sampler/epoch_position.cpp 2
    return {.epoch = steps / batches_per_epoch(division), .batch = 0};
