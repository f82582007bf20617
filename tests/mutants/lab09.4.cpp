// --- always-one-more
// One more batch is counted even if the last one is full.
// region: labs/09-distributed-sampler/epoch_position.cpp 1
    const int64_t each = (division.samples + division.ranks - 1) / division.ranks;
    return each / division.batch_size + 1;

// --- divisions-exchanged
// The two divisions are exchanged.
// region: labs/09-distributed-sampler/epoch_position.cpp 3
    const int64_t used = stopped.batch * now.ranks * now.batch_size;
    const int64_t batch = was.ranks * was.batch_size;
    check_batch_begins(used, batch);
    return {.epoch = stopped.epoch, .batch = used / batch};

// --- end-of-the-epoch
// After the last batch of an epoch, the position is the end of that epoch.
// region: labs/09-distributed-sampler/epoch_position.cpp 2
    const int64_t batches = batches_per_epoch(division);
    if (steps == 0) return {};
    return {.epoch = (steps - 1) / batches, .batch = (steps - 1) % batches + 1};

// --- epoch-from-the-start
// A job goes on at the beginning of the epoch that was interrupted.
// region: labs/09-distributed-sampler/epoch_position.cpp 2
    return {.epoch = steps / batches_per_epoch(division), .batch = 0};

// --- epoch-lost
// The epoch begins again at 0, and with it its order.
// region: labs/09-distributed-sampler/epoch_position.cpp 3
    const int64_t used = stopped.batch * was.ranks * was.batch_size;
    const int64_t batch = now.ranks * now.batch_size;
    check_batch_begins(used, batch);
    return {.epoch = 0, .batch = used / batch};

// --- fetched-and-thrown-away
// The batches before the position are fetched, and thrown away.
// region: labs/09-distributed-sampler/epoch_position.cpp 4
    loader.set_epoch(position.epoch);
    data::LoaderEpoch rest = loader.epoch();
    for (int64_t k = 0; k < position.batch; ++k) rest.next();
    return rest;

// --- first-epoch-only
// The steps are the batch, and the epoch is always 0.
// region: labs/09-distributed-sampler/epoch_position.cpp 2
    (void)division;
    return {.epoch = 0, .batch = steps};

// --- from-batch-0
// The epoch begins again at batch 0.
// region: labs/09-distributed-sampler/epoch_position.cpp 4
    loader.set_epoch(position.epoch);
    return loader.epoch();

// --- last-batch-again
// The position is the last batch that was trained on, not the next.
// region: labs/09-distributed-sampler/epoch_position.cpp 2
    const int64_t batches = batches_per_epoch(division);
    const int64_t last = steps > 0 ? steps - 1 : 0;
    return {.epoch = last / batches, .batch = last % batches};

// --- of-one-rank
// Only the samples of one rank are counted.
// region: labs/09-distributed-sampler/epoch_position.cpp 3
    const int64_t used = stopped.batch * was.batch_size;
    check_batch_begins(used, now.batch_size);
    return {.epoch = stopped.epoch, .batch = used / now.batch_size};

// --- one-batch-lost
// The batch that comes next is left out.
// region: labs/09-distributed-sampler/epoch_position.cpp 4
    loader.set_epoch(position.epoch);
    return loader.epoch(position.batch + 1);

// --- ranks-forgotten
// Every rank is thought to read the whole dataset.
// region: labs/09-distributed-sampler/epoch_position.cpp 1
    return (division.samples + division.batch_size - 1) / division.batch_size;

// --- rounded-down
// Where no batch begins, the job silently repeats some samples.
// region: labs/09-distributed-sampler/epoch_position.cpp 3
    const int64_t used = stopped.batch * was.ranks * was.batch_size;
    return {.epoch = stopped.epoch, .batch = used / (now.ranks * now.batch_size)};

// --- same-number
// The number of the batch is kept, whatever a batch is.
// region: labs/09-distributed-sampler/epoch_position.cpp 3
    check_batch_begins(stopped.batch * was.ranks * was.batch_size,
                       now.ranks * now.batch_size);
    return stopped;

// --- set-epoch-forgotten
// The order is that of epoch 0.
// region: labs/09-distributed-sampler/epoch_position.cpp 4
    return loader.epoch(position.batch);

// --- set-epoch-too-late
// The epoch is set when its order has already been made.
// region: labs/09-distributed-sampler/epoch_position.cpp 4
    data::LoaderEpoch rest = loader.epoch(position.batch);
    loader.set_epoch(position.epoch);
    return rest;

// --- short-batch-forgotten
// Batches are rounded down, as if the short last one did not count.
// region: labs/09-distributed-sampler/epoch_position.cpp 1
    const int64_t each = (division.samples + division.ranks - 1) / division.ranks;
    return each / division.batch_size;

// --- without-padding
// The samples of a rank are rounded down, as with drop_last.
// region: labs/09-distributed-sampler/epoch_position.cpp 1
    const int64_t each = division.samples / division.ranks;
    return (each + division.batch_size - 1) / division.batch_size;
