// A weight of zero has speed 0, like a tiny weight whose speed is rounded to 0.
    std::vector<double> speeds(weights.size());
    for (size_t i = 0; i < weights.size(); ++i) {
        const double time = generator.exponential_double();
        speeds[i] = weights[i] / time;
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
