// Every rank is thought to read the whole dataset.
// region: labs/09-distributed-sampler/epoch_position.cpp 1
    return (division.samples + division.batch_size - 1) / division.batch_size;
