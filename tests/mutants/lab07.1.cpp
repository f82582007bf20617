// --- batch-sorted
// A batch comes in the order of the samples, not in the order asked for.
// region: libmini/data/partition.cpp 3
    std::vector<int64_t> mapped;
    for (const int64_t i : indices) mapped.push_back(at(i));
    std::sort(mapped.begin(), mapped.end());
    return dataset_->get_batch(mapped);

// --- batch-unchecked
// The places of a batch are looked up without a check.
// region: libmini/data/partition.cpp 3
    std::vector<int64_t> mapped;
    for (const int64_t i : indices) mapped.push_back(index_[static_cast<size_t>(i)]);
    return dataset_->get_batch(mapped);

// --- bounds-unchecked
// A place that is not there is looked up all the same, modulo the size.
// region: libmini/data/partition.cpp 1
    return index_[static_cast<size_t>(i + size()) % index_.size()];

// --- index-ignored
// Sample i is the dataset's sample i, whatever the index says.
// region: libmini/data/partition.cpp 2
    return dataset_->get(i);

// --- minus-one-is-the-last
// Place -1 is the last one, as in a Python list.
// region: libmini/data/partition.cpp 1
    const int64_t place = i < 0 ? i + size() : i;
    check_place(place, size());
    return index_[static_cast<size_t>(place)];

// --- one-by-one
// A batch is fetched sample by sample, past the dataset's own way to read one.
// region: libmini/data/partition.cpp 3
    std::vector<Example> examples;
    for (const int64_t i : indices) examples.push_back(get(i));
    return collate(examples);

// --- standard-at
// The vector refuses the place, with its own exception, which names no dataset.
// region: libmini/data/partition.cpp 1
    return index_.at(static_cast<size_t>(i));
