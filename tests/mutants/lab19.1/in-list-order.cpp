// Parameters are assigned in the order of the list, not from the largest on.
    std::vector<size_t> order(sizes.size());
    std::iota(order.begin(), order.end(), size_t{0});

    std::vector<int64_t> load(static_cast<size_t>(world_size), 0);
    for (const size_t i : order) {
        const auto least = std::ranges::min_element(load);
        owners[i] = static_cast<int>(least - load.begin());
        *least += sizes[i];
    }
