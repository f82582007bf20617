// Rank r takes the r-th run of the file, which may be sorted by class.
    const int size = group.world_size();
    const int64_t bsz = batch_size / size, share = dataset->size() / size;
    std::vector<int64_t> index;
    for (int64_t i = 0; i < share; ++i) index.push_back(group.rank() * share + i);
    const auto partition = std::make_shared<mini::data::Partition>(dataset, index);
    return {DataLoader(partition, {.batch_size = bsz, .shuffle = true}), bsz};
