// Place -1 is the last one, as in a Python list.
// region: libmini/data/partition.cpp 1
    const int64_t place = i < 0 ? i + size() : i;
    check_place(place, size());
    return index_[static_cast<size_t>(place)];
