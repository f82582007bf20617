// A rank without samples is not refused here, and fails later or never.
    const std::vector<double> partition_sizes(static_cast<size_t>(world.size),
                                              1.0 / world.size);
    const DataPartitioner partitioner(std::move(dataset), partition_sizes,
                                      options.partitioner);
    const auto partition = std::make_shared<Partition>(partitioner.use(world.rank));
    const int64_t bsz = options.batch_size / world.size;
    const DataLoaderOptions loading = {.batch_size = bsz, .shuffle = true};
    return {DataLoader(partition, loading), bsz};
