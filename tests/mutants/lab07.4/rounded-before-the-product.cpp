// The fraction is made an integer before it is multiplied: 0, except for 1.
// region: libmini/data/partition.cpp 1
    for (const double size : sizes) lengths.push_back(static_cast<int64_t>(size) * n);
