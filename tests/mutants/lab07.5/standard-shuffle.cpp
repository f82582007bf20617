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
