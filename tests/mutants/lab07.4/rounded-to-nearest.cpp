// Shares are rounded to the nearest number, and may sum to more than there is.
    std::vector<int64_t> lengths;
    for (const double size : sizes)
        lengths.push_back(static_cast<int64_t>(size * static_cast<double>(n) + 0.5));
    (void)assign_remainder;
    return lengths;
