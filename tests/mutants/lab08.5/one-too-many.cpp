// A batch is closed when it has more than batch_size samples.
    std::vector<std::vector<int64_t>> batches;
    std::unordered_map<int64_t, size_t> open;
    for (const int64_t index : sampler_->indices()) {
        const auto [it, is_first] = open.try_emplace(group_of(index), batches.size());
        if (is_first || static_cast<int64_t>(batches[it->second].size()) > batch_size_) {
            it->second = batches.size();
            batches.emplace_back();
        }
        batches[it->second].push_back(index);
    }
    if (drop_uneven_)
        std::erase_if(batches, [&](const std::vector<int64_t>& batch) {
            return static_cast<int64_t>(batch.size()) < batch_size_;
        });
    return batches;
