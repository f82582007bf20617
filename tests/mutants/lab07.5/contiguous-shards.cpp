// Nothing is shuffled: each part is a run of the dataset's own order.
// region: libmini/data/partition.cpp 1
    std::vector<int64_t> index(static_cast<size_t>(n));
    std::iota(index.begin(), index.end(), int64_t{0});
    (void)options;
    auto begin = index.begin();
    for (const int64_t wanted : lengths) {
        const int64_t length = std::min<int64_t>(wanted, index.end() - begin);
        partitions_.emplace_back(begin, begin + length);
        begin += length;
    }
