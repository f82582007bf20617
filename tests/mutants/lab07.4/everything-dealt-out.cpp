// The remainder is all that is left, even where the fractions sum to a half.
    std::vector<int64_t> lengths;
    for (const double size : sizes)
        lengths.push_back(static_cast<int64_t>(size * static_cast<double>(n)));
    if (!assign_remainder || lengths.empty()) return lengths;
    const int64_t given = std::accumulate(lengths.begin(), lengths.end(), int64_t{0});
    for (int64_t k = 0; k < n - given; ++k)
        ++lengths[static_cast<size_t>(k) % lengths.size()];
    return lengths;
