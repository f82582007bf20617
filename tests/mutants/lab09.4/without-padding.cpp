// The samples of a rank are rounded down, as with drop_last.
// region: labs/09-distributed-sampler/epoch_position.cpp 1
    const int64_t each = division.samples / division.ranks;
    return (each + division.batch_size - 1) / division.batch_size;
