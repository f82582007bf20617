// Each fraction is taken of the samples that the parts before have left.
// region: libmini/data/partition.cpp 1
    int64_t left = n;
    for (const double size : sizes) {
        lengths.push_back(static_cast<int64_t>(size * static_cast<double>(left)));
        left -= lengths.back();
    }
