// The epoch begins again at batch 0.
// region: labs/09-distributed-sampler/epoch_position.cpp 4
    loader.set_epoch(position.epoch);
    return loader.epoch();
