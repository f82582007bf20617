// 1 / size is divided as integers: the fractions are 0 on several ranks.
    const int size = group.world_size();
    const int64_t bsz = batch_size / size;
    const std::vector<double> partition_sizes(static_cast<size_t>(size), static_cast<double>(1 / size));
    const mini::data::DataPartitioner partitioner(dataset, partition_sizes);
    const auto partition =
        std::make_shared<mini::data::Partition>(partitioner.use(group.rank()));
    return {DataLoader(partition, {.batch_size = bsz, .shuffle = true}), bsz};
