// --- by-modulo
// A word modulo n is drawn from 64 bits, not by randint.
// region: libmini/data/sampler.cpp 1
    std::vector<int64_t> order(static_cast<size_t>(num_samples));
    for (int64_t& index : order)
        index = static_cast<int64_t>(generator.random64() % static_cast<uint64_t>(n));
    return order;

// --- inverse-permutation
// Entry i goes to position p[i], and not the other way round.
// region: libmini/data/sampler.cpp 3
    const std::vector<int64_t> order = randperm(size(), generator);
    std::vector<int64_t> permuted(order.size());
    for (size_t i = 0; i < order.size(); ++i)
        permuted[static_cast<size_t>(order[i])] = indices_[i];
    return permuted;

// --- last-one-whole
// The last permutation is not truncated.
// region: libmini/data/sampler.cpp 2
    std::vector<int64_t> order;
    for (int64_t round = 0; round <= num_samples / n; ++round) {
        const std::vector<int64_t> next = randperm(n, generator);
        if (static_cast<int64_t>(order.size()) < num_samples)
            order.insert(order.end(), next.begin(), next.end());
    }
    return order;

// --- last-sample-never-drawn
// The upper end is n - 1, as with a closed interval, so the last sample is never drawn.
// region: libmini/data/sampler.cpp 1
    std::vector<int64_t> order(static_cast<size_t>(num_samples));
    for (int64_t& index : order) index = n > 1 ? generator.randint(0, n - 1) : 0;
    return order;

// --- one-permutation-repeated
// One permutation is repeated, and not a new one drawn.
// region: libmini/data/sampler.cpp 2
    const std::vector<int64_t> once = randperm(n, generator);
    for (int64_t round = 0; round < num_samples / n; ++round) randperm(n, generator);
    std::vector<int64_t> order;
    for (int64_t i = 0; i < num_samples; ++i)
        order.push_back(once[static_cast<size_t>(i % n)]);
    return order;

// --- permutes-its-own-list
// The list itself is permuted, so each epoch permutes what the last one has left.
// region: libmini/data/sampler.cpp 3
    const std::vector<int64_t> order = randperm(size(), generator);
    std::vector<int64_t> permuted;
    for (const int64_t position : order)
        permuted.push_back(indices_[static_cast<size_t>(position)]);
    indices_ = permuted;
    return permuted;

// --- positions-not-entries
// The positions are returned, not the entries of the list.
// region: libmini/data/sampler.cpp 3
    return randperm(size(), generator);

// --- unused-permutation-not-drawn
// Only the permutations that are used are drawn, so the second epoch is not PyTorch's.
// region: libmini/data/sampler.cpp 2
    std::vector<int64_t> order;
    while (static_cast<int64_t>(order.size()) < num_samples) {
        const std::vector<int64_t> next = randperm(n, generator);
        const int64_t missing = num_samples - static_cast<int64_t>(order.size());
        order.insert(order.end(), next.begin(), next.begin() + std::min(n, missing));
    }
    return order;
