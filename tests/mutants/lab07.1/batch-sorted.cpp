// A batch comes in the order of the samples, not in the order asked for.
// region: libmini/data/partition.cpp 3
    std::vector<int64_t> mapped;
    for (const int64_t i : indices) mapped.push_back(at(i));
    std::sort(mapped.begin(), mapped.end());
    return dataset_->get_batch(mapped);
