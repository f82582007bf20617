// The parts are computed in floats, which have 24 bits.
// region: libmini/data/partition.cpp 1
    for (const double size : sizes)
        lengths.push_back(
            static_cast<int64_t>(static_cast<float>(size) * static_cast<float>(n)));
