// Among ranks with the same load the highest is taken.
    std::vector<size_t> order(sizes.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::ranges::stable_sort(order, std::greater{}, [&](size_t i) { return sizes[i]; });
    std::vector<int64_t> load(static_cast<size_t>(world_size), 0);
    for (const size_t i : order) {
        size_t least = 0;
        for (size_t rank = 1; rank < load.size(); ++rank)
            if (load[rank] <= load[least]) least = rank;
        owners[i] = static_cast<int>(least);
        load[least] += sizes[i];
    }
