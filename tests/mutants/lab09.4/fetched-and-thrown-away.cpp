// The batches before the position are fetched, and thrown away.
// region: labs/09-distributed-sampler/epoch_position.cpp 4
    loader.set_epoch(position.epoch);
    data::LoaderEpoch rest = loader.epoch();
    for (int64_t k = 0; k < position.batch; ++k) rest.next();
    return rest;
