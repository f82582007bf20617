// The places of a batch are looked up without a check.
// region: libmini/data/partition.cpp 3
    std::vector<int64_t> mapped;
    for (const int64_t i : indices) mapped.push_back(index_[static_cast<size_t>(i)]);
    return dataset_->get_batch(mapped);
