// Each rank takes the batch of all ranks, so a step has world size times as many samples.
    const int size = group.world_size();
    const int64_t bsz = batch_size;
    const std::vector<double> partition_sizes(static_cast<size_t>(size), 1.0 / size);
    const mini::data::DataPartitioner partitioner(dataset, partition_sizes);
    const auto partition =
        std::make_shared<mini::data::Partition>(partitioner.use(group.rank()));
    return {DataLoader(partition, {.batch_size = bsz, .shuffle = true}), bsz};
