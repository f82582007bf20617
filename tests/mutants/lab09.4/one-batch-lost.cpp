// The batch that comes next is left out.
// region: labs/09-distributed-sampler/epoch_position.cpp 4
    loader.set_epoch(position.epoch);
    return loader.epoch(position.batch + 1);
