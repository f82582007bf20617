// The two divisions are exchanged.
// region: labs/09-distributed-sampler/epoch_position.cpp 3
    const int64_t used = stopped.batch * now.ranks * now.batch_size;
    const int64_t batch = was.ranks * was.batch_size;
    check_batch_begins(used, batch);
    return {.epoch = stopped.epoch, .batch = used / batch};
