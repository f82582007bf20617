// Only the samples of one rank are counted.
// region: labs/09-distributed-sampler/epoch_position.cpp 3
    const int64_t used = stopped.batch * was.batch_size;
    check_batch_begins(used, now.batch_size);
    return {.epoch = stopped.epoch, .batch = used / now.batch_size};
