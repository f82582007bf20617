// Only categories of positive weight draw a time.
    std::vector<double> speeds(weights.size());
    for (size_t i = 0; i < weights.size(); ++i) {
        speeds[i] = weights[i] > 0 ? weights[i] / generator.exponential_double() : -1;
    }
    std::vector<int64_t> order(weights.size());
    std::iota(order.begin(), order.end(), 0);
    std::partial_sort(order.begin(), order.begin() + num_samples, order.end(),
                      [&](int64_t left, int64_t right) {
                          const double a = speeds[static_cast<size_t>(left)];
                          const double b = speeds[static_cast<size_t>(right)];
                          return a != b ? a > b : left < right;
                      });
    order.resize(static_cast<size_t>(num_samples));
    return order;
