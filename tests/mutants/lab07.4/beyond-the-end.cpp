// A run is as long as it should be, even if the list ends before.
// region: libmini/data/partition.cpp 2
    std::vector<std::vector<int64_t>> runs;
    auto begin = list.begin();
    for (const int64_t length : lengths) {
        runs.emplace_back(begin, begin + length);
        begin += length;
    }
    return runs;
