// The slowest categories win.
    std::vector<double> speeds(weights.size());
    for (size_t i = 0; i < weights.size(); ++i) {
        const double time = generator.exponential_double();
        speeds[i] = weights[i] > 0 ? weights[i] / time : 1e300;
    }
    std::vector<int64_t> order(weights.size());
    std::iota(order.begin(), order.end(), 0);
    std::partial_sort(order.begin(), order.begin() + num_samples, order.end(),
                      [&](int64_t left, int64_t right) {
                          const double a = speeds[static_cast<size_t>(left)];
                          const double b = speeds[static_cast<size_t>(right)];
                          return a != b ? a < b : left < right;
                      });
    order.resize(static_cast<size_t>(num_samples));
    return order;
