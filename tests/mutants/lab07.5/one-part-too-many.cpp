// The part behind the last one is taken for the last one.
// region: libmini/data/partition.cpp 2
    const int count = static_cast<int>(partitions_.size());
    if (partition < 0 || partition > count)
        throw UsageError(concat("DataPartitioner: there is no partition ", partition,
                                "; it has ", count));
    const int last = partition == count ? count - 1 : partition;
    return Partition(dataset_, partitions_[static_cast<size_t>(last)]);
