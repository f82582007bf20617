// --- all-from-the-front
// Every run begins at the front, so that all share their values.
// region: libmini/data/partition.cpp 2
    std::vector<std::vector<int64_t>> runs;
    for (const int64_t wanted : lengths) {
        const int64_t length = std::min(wanted, static_cast<int64_t>(list.size()));
        runs.emplace_back(list.begin(), list.begin() + length);
    }
    return runs;

// --- as-long-as-the-first
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

// --- beyond-the-end
// A run is as long as it should be, even if the list ends before.
// region: libmini/data/partition.cpp 2
    std::vector<std::vector<int64_t>> runs;
    auto begin = list.begin();
    for (const int64_t length : lengths) {
        runs.emplace_back(begin, begin + length);
        begin += length;
    }
    return runs;

// --- empty-runs-left-out
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

// --- fraction-of-what-is-left
// Each fraction is taken of the samples that the parts before have left.
// region: libmini/data/partition.cpp 1
    int64_t left = n;
    for (const double size : sizes) {
        lengths.push_back(static_cast<int64_t>(size * static_cast<double>(left)));
        left -= lengths.back();
    }

// --- in-floats
// The parts are computed in floats, which have 24 bits.
// region: libmini/data/partition.cpp 1
    for (const double size : sizes)
        lengths.push_back(
            static_cast<int64_t>(static_cast<float>(size) * static_cast<float>(n)));

// --- one-sample-shared
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

// --- rest-to-the-last
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

// --- rounded-before-the-product
// The fraction is made an integer before it is multiplied: 0, except for 1.
// region: libmini/data/partition.cpp 1
    for (const double size : sizes) lengths.push_back(static_cast<int64_t>(size) * n);

// --- rounded-to-nearest
// Products are rounded to the nearest number, and may sum to more than there is.
// region: libmini/data/partition.cpp 1
    for (const double size : sizes)
        lengths.push_back(static_cast<int64_t>(size * static_cast<double>(n) + 0.5));

// --- slack-added
// "Repairs" the rounding by a small addition, so 0.29 of 100 is 29, unlike in Python.
// region: libmini/data/partition.cpp 1
    for (const double size : sizes)
        lengths.push_back(
            static_cast<int64_t>(size * static_cast<double>(n) + kRoundingSlack));
