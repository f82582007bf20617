// --- contiguous-shards
// The list is cut into consecutive pieces of about equal size.
    int64_t total = 0, before = 0;
    for (const int64_t size : sizes) total += size;
    for (size_t i = 0; i < sizes.size(); ++i) {
        owners[i] = static_cast<int>(before * world_size / std::max(total, int64_t{1}));
        before += sizes[i];
    }

// --- highest-rank-on-a-tie
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

// --- in-list-order
// Parameters are assigned in the order of the list, not from the largest on.
    std::vector<size_t> order(sizes.size());
    std::iota(order.begin(), order.end(), size_t{0});

    std::vector<int64_t> load(static_cast<size_t>(world_size), 0);
    for (const size_t i : order) {
        const auto least = std::ranges::min_element(load);
        owners[i] = static_cast<int>(least - load.begin());
        *least += sizes[i];
    }

// --- loads-of-32-bits
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

// --- parameters-counted
// A rank is as full as it has parameters, not elements.
    std::vector<size_t> order(sizes.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::ranges::stable_sort(order, std::greater{}, [&](size_t i) { return sizes[i]; });

    std::vector<int64_t> load(static_cast<size_t>(world_size), 0);
    for (const size_t i : order) {
        const auto least = std::ranges::min_element(load);
        owners[i] = static_cast<int>(least - load.begin());
        *least += 1;
    }

// --- round-robin
// Parameters are dealt out like cards, whatever their sizes.
    for (size_t i = 0; i < sizes.size(); ++i)
        owners[i] = static_cast<int>(i) % world_size;

// --- smallest-first
// The smallest parameter is assigned first.
    std::vector<size_t> order(sizes.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::ranges::stable_sort(order, {}, [&](size_t i) { return sizes[i]; });

    std::vector<int64_t> load(static_cast<size_t>(world_size), 0);
    for (const size_t i : order) {
        const auto least = std::ranges::min_element(load);
        owners[i] = static_cast<int>(least - load.begin());
        *least += sizes[i];
    }

// --- sort-is-not-stable
// Equal sizes may change places, so ranks with another library may disagree.
    std::vector<size_t> order(sizes.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::ranges::sort(order, std::greater{}, [&](size_t i) { return sizes[i]; });

    std::vector<int64_t> load(static_cast<size_t>(world_size), 0);
    for (const size_t i : order) {
        const auto least = std::ranges::min_element(load);
        owners[i] = static_cast<int>(least - load.begin());
        *least += sizes[i];
    }
