// An example sample is drawn for a log line, from the generator that shuffles afterwards.
// region: libmini/data/partition.cpp 1
    std::vector<int64_t> index(static_cast<size_t>(n));
    std::iota(index.begin(), index.end(), int64_t{0});
    PythonRandom generator(options.seed);
    if (n > 0) generator.randrange(n);
    generator.shuffle(index);
    partitions_ = cut_into_runs(index, lengths);
