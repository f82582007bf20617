// The number of the batch is kept, whatever a batch is.
// region: labs/09-distributed-sampler/epoch_position.cpp 3
    check_batch_begins(stopped.batch * was.ranks * was.batch_size,
                       now.ranks * now.batch_size);
    return stopped;
