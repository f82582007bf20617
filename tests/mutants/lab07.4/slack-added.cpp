// "Repairs" the rounding by a small addition, so 0.29 of 100 is 29, unlike in Python.
// region: libmini/data/partition.cpp 1
    for (const double size : sizes)
        lengths.push_back(
            static_cast<int64_t>(size * static_cast<double>(n) + kRoundingSlack));
