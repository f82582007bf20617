// The last run takes all that is left of the list.
// region: libmini/data/partition.cpp 2
    std::vector<std::vector<int64_t>> runs;
    auto begin = list.begin();
    for (size_t k = 0; k < lengths.size(); ++k) {
        const int64_t left = list.end() - begin;
        const auto end = begin + (k + 1 < lengths.size() ? std::min(lengths[k], left) : left);
        runs.emplace_back(begin, end);
        begin = end;
    }
    return runs;
