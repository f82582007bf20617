// Batches are rounded down, as if the short last one did not count.
// region: labs/09-distributed-sampler/epoch_position.cpp 1
    const int64_t each = (division.samples + division.ranks - 1) / division.ranks;
    return each / division.batch_size;
