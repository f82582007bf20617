// The seed is always 1234.
// region: libmini/data/partition.cpp 1
    std::vector<int64_t> index(static_cast<size_t>(n));
    std::iota(index.begin(), index.end(), int64_t{0});
    PythonRandom(1234).shuffle(index);
    partitions_ = cut_into_runs(index, lengths);
