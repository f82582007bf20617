// Every run begins at the front, so that all share their values.
// region: libmini/data/partition.cpp 2
    std::vector<std::vector<int64_t>> runs;
    for (const int64_t wanted : lengths) {
        const int64_t length = std::min(wanted, static_cast<int64_t>(list.size()));
        runs.emplace_back(list.begin(), list.begin() + length);
    }
    return runs;
