// The fractions are summed from 0: seven times 1/7 is a little less than 1.
    std::vector<int64_t> lengths;
    for (const double size : sizes)
        lengths.push_back(static_cast<int64_t>(size * static_cast<double>(n)));
    if (!assign_remainder) return lengths;

    const double covered = std::accumulate(sizes.begin(), sizes.end(), 0.0);
    const int64_t total =
        std::min(n, static_cast<int64_t>(covered * static_cast<double>(n)));
    const int64_t given = std::accumulate(lengths.begin(), lengths.end(), int64_t{0});
    for (int64_t k = 0; k < total - given; ++k)
        ++lengths[static_cast<size_t>(k) % lengths.size()];
    return lengths;
