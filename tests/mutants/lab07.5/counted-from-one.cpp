// Part 1 is the first one, as if ranks were counted from 1.
// region: libmini/data/partition.cpp 2
    check_part_number(partition, partitions_.size());
    return Partition(dataset_, partitions_[static_cast<size_t>(std::max(partition - 1, 0))]);
