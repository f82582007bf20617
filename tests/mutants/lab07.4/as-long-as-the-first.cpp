// Run k begins at k times the length, as if all runs had the same one.
// region: libmini/data/partition.cpp 2
    std::vector<std::vector<int64_t>> runs;
    const auto n = static_cast<int64_t>(list.size());
    for (size_t k = 0; k < lengths.size(); ++k) {
        const int64_t begin = std::min(n, static_cast<int64_t>(k) * lengths[0]);
        const int64_t end = std::min(n, begin + lengths[k]);
        runs.emplace_back(list.begin() + begin, list.begin() + end);
    }
    return runs;
