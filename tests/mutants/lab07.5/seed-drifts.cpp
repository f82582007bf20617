// Each partitioner of a process has a seed of its own, so ranks may divide unalike.
// region: libmini/data/partition.cpp 1
    std::vector<int64_t> index(static_cast<size_t>(n));
    std::iota(index.begin(), index.end(), int64_t{0});
    static int64_t drift = 0;
    PythonRandom(options.seed + drift++).shuffle(index);
    partitions_ = cut_into_runs(index, lengths);
