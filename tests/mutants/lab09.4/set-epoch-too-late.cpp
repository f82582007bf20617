// The epoch is set when its order has already been made.
// region: labs/09-distributed-sampler/epoch_position.cpp 4
    data::LoaderEpoch rest = loader.epoch(position.batch);
    loader.set_epoch(position.epoch);
    return rest;
