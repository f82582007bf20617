// A rank sees its samples in one order forever.
    const int size = group.world_size();
    const int64_t bsz = batch_size / size;
    const std::vector<double> partition_sizes(static_cast<size_t>(size), 1.0 / size);
    const mini::data::DataPartitioner partitioner(dataset, partition_sizes);
    const auto partition =
        std::make_shared<mini::data::Partition>(partitioner.use(group.rank()));
    return {DataLoader(partition, {.batch_size = bsz, .shuffle = false}), bsz};
