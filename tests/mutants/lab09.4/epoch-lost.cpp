// The epoch begins again at 0, and with it its order.
// region: labs/09-distributed-sampler/epoch_position.cpp 3
    const int64_t used = stopped.batch * was.ranks * was.batch_size;
    const int64_t batch = now.ranks * now.batch_size;
    check_batch_begins(used, batch);
    return {.epoch = 0, .batch = used / batch};
