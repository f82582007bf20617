// The list is cut first, and each part is shuffled by itself.
// region: libmini/data/partition.cpp 1
    std::vector<int64_t> index(static_cast<size_t>(n));
    std::iota(index.begin(), index.end(), int64_t{0});
    partitions_ = cut_into_runs(index, lengths);
    for (std::vector<int64_t>& part : partitions_) PythonRandom(options.seed).shuffle(part);
