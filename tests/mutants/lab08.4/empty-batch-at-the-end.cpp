// A number of samples that is a multiple of batch_size gives an empty batch at the end.
// region: libmini/data/batch_sampler.cpp 1
    std::vector<std::vector<int64_t>> batches(1);
    for (int64_t i = 0; i < n; ++i) {
        batches.back().push_back(order[static_cast<size_t>(i)]);
        if (static_cast<int64_t>(batches.back().size()) == batch_size_)
            batches.emplace_back();
    }
    if (drop_last_) batches.pop_back();
    return batches;
