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
