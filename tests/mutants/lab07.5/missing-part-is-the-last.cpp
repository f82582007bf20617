// A part that is not there is taken for the last one.
// region: libmini/data/partition.cpp 2
    const size_t last = partitions_.size() - 1;
    return Partition(dataset_, partitions_[std::min(static_cast<size_t>(partition), last)]);
