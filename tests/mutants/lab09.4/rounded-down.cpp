// Where no batch begins, the job silently repeats some samples.
// region: labs/09-distributed-sampler/epoch_position.cpp 3
    const int64_t used = stopped.batch * was.ranks * was.batch_size;
    return {.epoch = stopped.epoch, .batch = used / (now.ranks * now.batch_size)};
