// n modulo the number of parts is given out, which is what is left of exact shares only.
    std::vector<int64_t> lengths;
    for (const double size : sizes)
        lengths.push_back(static_cast<int64_t>(size * static_cast<double>(n)));
    if (!assign_remainder || lengths.empty()) return lengths;
    for (size_t k = 0; k < static_cast<size_t>(n) % lengths.size(); ++k) ++lengths[k];
    return lengths;
