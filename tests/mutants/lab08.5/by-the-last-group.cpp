// A new batch begins whenever the group changes: no group has an open batch.
    std::vector<std::vector<int64_t>> batches;
    for (const int64_t index : sampler_->indices()) {
        if (batches.empty() ||
            static_cast<int64_t>(batches.back().size()) == batch_size_ ||
            group_of(batches.back().front()) != group_of(index))
            batches.emplace_back();
        batches.back().push_back(index);
    }
    if (drop_uneven_)
        std::erase_if(batches, [&](const std::vector<int64_t>& batch) {
            return static_cast<int64_t>(batch.size()) != batch_size_;
        });
    return batches;
