// Products are rounded to the nearest number, and may sum to more than there is.
// region: libmini/data/partition.cpp 1
    for (const double size : sizes)
        lengths.push_back(static_cast<int64_t>(size * static_cast<double>(n) + 0.5));
