// A place that is not there is looked up all the same, modulo the size.
// region: libmini/data/partition.cpp 1
    return index_[static_cast<size_t>(i + size()) % index_.size()];
