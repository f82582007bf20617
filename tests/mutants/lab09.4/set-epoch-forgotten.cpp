// The order is that of epoch 0.
// region: labs/09-distributed-sampler/epoch_position.cpp 4
    return loader.epoch(position.batch);
