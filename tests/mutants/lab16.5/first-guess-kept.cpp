// The order that was seen is forgotten for that of the parameters, reversed.
    std::vector<size_t> order(parameters_.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::ranges::reverse(order);
    return order;
