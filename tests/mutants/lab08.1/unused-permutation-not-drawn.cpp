// Only the permutations that are used are drawn, so the second epoch is not PyTorch's.
// region: libmini/data/sampler.cpp 2
    std::vector<int64_t> order;
    while (static_cast<int64_t>(order.size()) < num_samples) {
        const std::vector<int64_t> next = randperm(n, generator);
        const int64_t missing = num_samples - static_cast<int64_t>(order.size());
        order.insert(order.end(), next.begin(), next.begin() + std::min(n, missing));
    }
    return order;
