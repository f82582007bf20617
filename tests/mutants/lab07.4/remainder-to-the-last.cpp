// The last part gets all that is left over.
    std::vector<int64_t> lengths;
    for (const double size : sizes)
        lengths.push_back(static_cast<int64_t>(size * static_cast<double>(n)));
    if (!assign_remainder || lengths.empty()) return lengths;
    const double covered = std::accumulate(sizes.begin(), sizes.end(), kRoundingSlack);
    const int64_t total =
        std::min(n, static_cast<int64_t>(covered * static_cast<double>(n)));
    lengths.back() += total - std::accumulate(lengths.begin(), lengths.end(), int64_t{0});
    return lengths;
