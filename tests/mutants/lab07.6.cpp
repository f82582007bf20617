// --- batch-not-shared
// Each rank takes a whole batch, so that the global batch grows with the ranks.
    const std::vector<double> partition_sizes(static_cast<size_t>(world.size),
                                              1.0 / world.size);
    const DataPartitioner partitioner(std::move(dataset), partition_sizes,
                                      options.partitioner);
    const auto partition = std::make_shared<Partition>(partitioner.use(world.rank));
    check_part(*partition, n, world);
    const int64_t bsz = options.batch_size;
    const DataLoaderOptions loading = {.batch_size = bsz, .shuffle = true};
    return {DataLoader(partition, loading), bsz};

// --- batch-rounded-up
// A rank's share of the batch is rounded up.
    const std::vector<double> partition_sizes(static_cast<size_t>(world.size),
                                              1.0 / world.size);
    const DataPartitioner partitioner(std::move(dataset), partition_sizes,
                                      options.partitioner);
    const auto partition = std::make_shared<Partition>(partitioner.use(world.rank));
    check_part(*partition, n, world);
    const int64_t bsz = (options.batch_size + world.size - 1) / world.size;
    const DataLoaderOptions loading = {.batch_size = bsz, .shuffle = true};
    return {DataLoader(partition, loading), bsz};

// --- empty-part-unnoticed
// A rank without samples is not refused here, and fails later or never.
    const std::vector<double> partition_sizes(static_cast<size_t>(world.size),
                                              1.0 / world.size);
    const DataPartitioner partitioner(std::move(dataset), partition_sizes,
                                      options.partitioner);
    const auto partition = std::make_shared<Partition>(partitioner.use(world.rank));
    const int64_t bsz = options.batch_size / world.size;
    const DataLoaderOptions loading = {.batch_size = bsz, .shuffle = true};
    return {DataLoader(partition, loading), bsz};

// --- all-samples-of-all
// All ranks load the first part.
    const std::vector<double> partition_sizes(static_cast<size_t>(world.size),
                                              1.0 / world.size);
    const DataPartitioner partitioner(std::move(dataset), partition_sizes,
                                      options.partitioner);
    const auto partition = std::make_shared<Partition>(partitioner.use(0));
    check_part(*partition, n, world);
    const int64_t bsz = options.batch_size / world.size;
    const DataLoaderOptions loading = {.batch_size = bsz, .shuffle = true};
    return {DataLoader(partition, loading), bsz};

// --- integer-fractions
// 1 / world size is divided as integers: the fractions are 0 on several ranks.
    const std::vector<double> partition_sizes(static_cast<size_t>(world.size),
                                              static_cast<double>(1 / world.size));
    const DataPartitioner partitioner(std::move(dataset), partition_sizes,
                                      options.partitioner);
    const auto partition = std::make_shared<Partition>(partitioner.use(world.rank));
    check_part(*partition, n, world);
    const int64_t bsz = options.batch_size / world.size;
    const DataLoaderOptions loading = {.batch_size = bsz, .shuffle = true};
    return {DataLoader(partition, loading), bsz};

// --- never-shuffled-again
// A rank goes through its part in the same order in every epoch.
    const std::vector<double> partition_sizes(static_cast<size_t>(world.size),
                                              1.0 / world.size);
    const DataPartitioner partitioner(std::move(dataset), partition_sizes,
                                      options.partitioner);
    const auto partition = std::make_shared<Partition>(partitioner.use(world.rank));
    check_part(*partition, n, world);
    const int64_t bsz = options.batch_size / world.size;
    const DataLoaderOptions loading = {.batch_size = bsz, .shuffle = false};
    return {DataLoader(partition, loading), bsz};

// --- remainder-forgotten
// The partitioner's options are not passed on.
    const std::vector<double> partition_sizes(static_cast<size_t>(world.size),
                                              1.0 / world.size);
    const DataPartitioner partitioner(std::move(dataset), partition_sizes);
    const auto partition = std::make_shared<Partition>(partitioner.use(world.rank));
    check_part(*partition, n, world);
    const int64_t bsz = options.batch_size / world.size;
    const DataLoaderOptions loading = {.batch_size = bsz, .shuffle = true};
    return {DataLoader(partition, loading), bsz};
