// --- a-draw-before
// An example sample is drawn for a log line, from the generator that shuffles afterwards.
// region: libmini/data/partition.cpp 1
    std::vector<int64_t> index(static_cast<size_t>(n));
    std::iota(index.begin(), index.end(), int64_t{0});
    PythonRandom generator(options.seed);
    if (n > 0) generator.randrange(n);
    generator.shuffle(index);
    partitions_ = cut_into_runs(index, lengths);

// --- contiguous-shards
// Nothing is shuffled: each part is a run of the dataset's own order.
// region: libmini/data/partition.cpp 1
    std::vector<int64_t> index(static_cast<size_t>(n));
    std::iota(index.begin(), index.end(), int64_t{0});
    (void)options;
    partitions_ = cut_into_runs(index, lengths);

// --- counted-from-one
// Part 1 is the first one, as if ranks were counted from 1.
// region: libmini/data/partition.cpp 2
    check_part_number(partition, partitions_.size());
    return Partition(dataset_, partitions_[static_cast<size_t>(std::max(partition - 1, 0))]);

// --- each-part-by-itself
// The list is cut first, and each part is shuffled by itself.
// region: libmini/data/partition.cpp 1
    std::vector<int64_t> index(static_cast<size_t>(n));
    std::iota(index.begin(), index.end(), int64_t{0});
    partitions_ = cut_into_runs(index, lengths);
    for (std::vector<int64_t>& part : partitions_) PythonRandom(options.seed).shuffle(part);

// --- missing-part-is-the-last
// A part that is not there is taken for the last one.
// region: libmini/data/partition.cpp 2
    const size_t last = partitions_.size() - 1;
    return Partition(dataset_, partitions_[std::min(static_cast<size_t>(partition), last)]);

// --- one-generator-for-all
// A thread makes one generator, and draws on from it in each division.
// region: libmini/data/partition.cpp 1
    std::vector<int64_t> index(static_cast<size_t>(n));
    std::iota(index.begin(), index.end(), int64_t{0});
    static thread_local PythonRandom generator(options.seed);
    generator.shuffle(index);
    partitions_ = cut_into_runs(index, lengths);

// --- seed-drifts
// Each partitioner of a process has a seed of its own, so ranks may divide unalike.
// region: libmini/data/partition.cpp 1
    std::vector<int64_t> index(static_cast<size_t>(n));
    std::iota(index.begin(), index.end(), int64_t{0});
    static int64_t drift = 0;
    PythonRandom(options.seed + drift++).shuffle(index);
    partitions_ = cut_into_runs(index, lengths);

// --- seed-ignored
// The seed is always 1234.
// region: libmini/data/partition.cpp 1
    std::vector<int64_t> index(static_cast<size_t>(n));
    std::iota(index.begin(), index.end(), int64_t{0});
    PythonRandom(1234).shuffle(index);
    partitions_ = cut_into_runs(index, lengths);

// --- standard-shuffle
// std::shuffle shuffles, by Python's words but in an order of its own.
// region: libmini/data/partition.cpp 1
    std::vector<int64_t> index(static_cast<size_t>(n));
    std::iota(index.begin(), index.end(), int64_t{0});
    struct Words {
        using result_type = uint32_t;
        static constexpr uint32_t min() { return 0; }
        static constexpr uint32_t max() { return UINT32_MAX; }
        uint32_t operator()() { return static_cast<uint32_t>(random.getrandbits(32)); }
        PythonRandom random;
    };
    std::shuffle(index.begin(), index.end(), Words{PythonRandom(options.seed)});
    partitions_ = cut_into_runs(index, lengths);

// --- taking-turns
// The parts take turns in the shuffled list, as with a DistributedSampler.
// region: libmini/data/partition.cpp 1
    std::vector<int64_t> index(static_cast<size_t>(n));
    std::iota(index.begin(), index.end(), int64_t{0});
    PythonRandom(options.seed).shuffle(index);
    for (size_t part = 0; part < lengths.size(); ++part) {
        std::vector<int64_t> mine;
        for (size_t i = part; i < index.size(); i += lengths.size())
            if (static_cast<int64_t>(mine.size()) < lengths[part])
                mine.push_back(index[i]);
        partitions_.push_back(mine);
    }
