// A thread makes one generator, and draws on from it in each division.
// region: libmini/data/partition.cpp 1
    std::vector<int64_t> index(static_cast<size_t>(n));
    std::iota(index.begin(), index.end(), int64_t{0});
    static thread_local PythonRandom generator(options.seed);
    generator.shuffle(index);
    partitions_ = cut_into_runs(index, lengths);
