// All batches of one group come first, then those of the next.
    std::vector<int64_t> order = sampler_->indices();
    std::vector<std::vector<int64_t>> batches;
    while (!order.empty()) {
        const int64_t group = group_of(order.front());
        std::vector<int64_t> rest;
        bool open = false;
        for (const int64_t index : order) {
            if (group_of(index) != group) {
                rest.push_back(index);
                continue;
            }
            if (!open || static_cast<int64_t>(batches.back().size()) == batch_size_)
                batches.emplace_back();
            open = true;
            batches.back().push_back(index);
        }
        order = rest;
    }
    if (drop_uneven_)
        std::erase_if(batches, [&](const std::vector<int64_t>& batch) {
            return static_cast<int64_t>(batch.size()) != batch_size_;
        });
    return batches;
