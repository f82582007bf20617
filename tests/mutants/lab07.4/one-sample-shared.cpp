// Each run begins with the last value of the one before.
// region: libmini/data/partition.cpp 2
    std::vector<std::vector<int64_t>> runs;
    auto begin = list.begin();
    for (const int64_t wanted : lengths) {
        const int64_t length = std::min<int64_t>(wanted, list.end() - begin);
        runs.emplace_back(begin, begin + length);
        begin += std::max<int64_t>(length - 1, 0);
    }
    return runs;
