// Nothing is shuffled: each part is a run of the dataset's own order.
// region: libmini/data/partition.cpp 1
    std::vector<int64_t> index(static_cast<size_t>(n));
    std::iota(index.begin(), index.end(), int64_t{0});
    (void)options;
    partitions_ = cut_into_runs(index, lengths);
