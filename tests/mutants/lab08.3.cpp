// --- drawn-in-index-order
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

// --- heavier-is-slower
// Time and weight are multiplied, so heavy categories come late in the race.
    std::vector<double> speeds(weights.size());
    for (size_t i = 0; i < weights.size(); ++i) {
        const double time = generator.exponential_double();
        speeds[i] = weights[i] > 0 ? 1 / (weights[i] * time) : -1;
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

// --- slowest-first
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

// --- ties-backwards
// Of two equal speeds the larger index comes first.
    std::vector<double> speeds(weights.size());
    for (size_t i = 0; i < weights.size(); ++i) {
        const double time = generator.exponential_double();
        speeds[i] = weights[i] > 0 ? weights[i] / time : -1;
    }
    std::vector<int64_t> order(weights.size());
    std::iota(order.begin(), order.end(), 0);
    std::partial_sort(order.begin(), order.begin() + num_samples, order.end(),
                      [&](int64_t left, int64_t right) {
                          const double a = speeds[static_cast<size_t>(left)];
                          const double b = speeds[static_cast<size_t>(right)];
                          return a != b ? a > b : left > right;
                      });
    order.resize(static_cast<size_t>(num_samples));
    return order;

// --- uniform-times
// The times are uniform, so the probabilities are not those of the weights.
    std::vector<double> speeds(weights.size());
    for (size_t i = 0; i < weights.size(); ++i) {
        const double time = generator.uniform_double();
        speeds[i] = weights[i] > 0 ? weights[i] / time : -1;
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

// --- zero-draws-nothing
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

// --- zero-is-not-last
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
