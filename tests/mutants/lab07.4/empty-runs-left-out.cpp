// An empty run is left out, so that the next rank gets its number.
// region: libmini/data/partition.cpp 2
    std::vector<std::vector<int64_t>> runs;
    auto begin = list.begin();
    for (const int64_t wanted : lengths) {
        const int64_t length = std::min<int64_t>(wanted, list.end() - begin);
        if (length > 0) runs.emplace_back(begin, begin + length);
        begin += length;
    }
    return runs;
