// One more batch is counted even if the last one is full.
// region: labs/09-distributed-sampler/epoch_position.cpp 1
    const int64_t each = (division.samples + division.ranks - 1) / division.ranks;
    return each / division.batch_size + 1;
