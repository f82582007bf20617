// --- by-the-last-group
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

// --- emitted-when-full
// Batches are in the order in which they become full, not of their first samples.
    std::vector<std::vector<int64_t>> batches;
    std::unordered_map<int64_t, std::vector<int64_t>> open;
    std::vector<int64_t> groups;
    for (const int64_t index : sampler_->indices()) {
        const int64_t group = group_of(index);
        if (!open.contains(group)) groups.push_back(group);
        open[group].push_back(index);
        if (static_cast<int64_t>(open[group].size()) == batch_size_)
            batches.push_back(std::exchange(open[group], {}));
    }
    if (!drop_uneven_)
        for (const int64_t group : groups)
            if (!open[group].empty()) batches.push_back(open[group]);
    return batches;

// --- group-unchecked
// The group is read without a check that the sample has one.
    std::vector<std::vector<int64_t>> batches;
    std::unordered_map<int64_t, size_t> open;
    for (const int64_t index : sampler_->indices()) {
        const int64_t group =
            group_ids_[static_cast<size_t>(index) % group_ids_.size()];
        const auto [it, is_first] = open.try_emplace(group, batches.size());
        if (is_first || static_cast<int64_t>(batches[it->second].size()) == batch_size_) {
            it->second = batches.size();
            batches.emplace_back();
        }
        batches[it->second].push_back(index);
    }
    if (drop_uneven_)
        std::erase_if(batches, [&](const std::vector<int64_t>& batch) {
            return static_cast<int64_t>(batch.size()) != batch_size_;
        });
    return batches;

// --- one-too-many
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

// --- sorted-by-group
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
