// Shares are computed in floats, which have 24 bits.
    std::vector<int64_t> lengths;
    for (const double size : sizes)
        lengths.push_back(
            static_cast<int64_t>(static_cast<float>(size) * static_cast<float>(n)));
    if (!assign_remainder) return lengths;
    int64_t left = n - std::accumulate(lengths.begin(), lengths.end(), int64_t{0});
    for (size_t k = 0; left > 0 && !lengths.empty(); ++k, --left)
        ++lengths[k % lengths.size()];
    return lengths;
