// One permutation is repeated, and not a new one drawn.
// region: libmini/data/sampler.cpp 2
    const std::vector<int64_t> once = randperm(n, generator);
    for (int64_t round = 0; round < num_samples / n; ++round) randperm(n, generator);
    std::vector<int64_t> order;
    for (int64_t i = 0; i < num_samples; ++i)
        order.push_back(once[static_cast<size_t>(i % n)]);
    return order;
