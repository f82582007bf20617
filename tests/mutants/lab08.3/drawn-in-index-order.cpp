// The right categories are drawn, but in the order of their indices.
    std::vector<double> speeds(weights.size());
    for (size_t i = 0; i < weights.size(); ++i) {
        const double time = generator.exponential_double();
        speeds[i] = weights[i] > 0 ? weights[i] / time : -1;
    }
    std::vector<int64_t> order(weights.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](int64_t left, int64_t right) {
        return speeds[static_cast<size_t>(left)] > speeds[static_cast<size_t>(right)];
    });
    order.resize(static_cast<size_t>(num_samples));
    std::sort(order.begin(), order.end());
    return order;
