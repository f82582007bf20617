// The vector refuses the place, with its own exception, which names no dataset.
// region: libmini/data/partition.cpp 1
    return index_.at(static_cast<size_t>(i));
