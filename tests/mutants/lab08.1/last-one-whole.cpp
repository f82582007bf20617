// The last permutation is not truncated.
// region: libmini/data/sampler.cpp 2
    std::vector<int64_t> order;
    for (int64_t round = 0; round <= num_samples / n; ++round) {
        const std::vector<int64_t> next = randperm(n, generator);
        if (static_cast<int64_t>(order.size()) < num_samples)
            order.insert(order.end(), next.begin(), next.end());
    }
    return order;
