// --- broadcast-on-rank-0-only
// Only rank 0 calls the broadcast; the others never receive its order.
    const Tensor order = cpu_tensor(std::vector<int64_t>(order_.begin(), order_.end()));
    if (group_.rank() == 0) group_.broadcast(order, 0);
    const auto numbers = order.to_vector<int64_t>();
    return {numbers.begin(), numbers.end()};

// --- broadcast-result-dropped
// The broadcast is done, but each rank returns its own order.
    const Tensor order = cpu_tensor(std::vector<int64_t>(order_.begin(), order_.end()));
    group_.broadcast(order, 0);
    return order_;

// --- first-guess-kept
// The order that was seen is forgotten for that of the parameters, reversed.
    std::vector<size_t> order(parameters_.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::ranges::reverse(order);
    return order;

// --- last-rank-decides
// All take the last rank's order instead of rank 0's.
    const Tensor order = Tensor::from(std::vector<int64_t>(order_.begin(), order_.end()));
    group_.broadcast(order, group_.world_size() - 1);
    const auto numbers = order.to_vector<int64_t>();
    return {numbers.begin(), numbers.end()};

// --- order-backwards
// The gradient that came last goes into the first bucket.
    std::ranges::reverse(order_);
    const Tensor order = Tensor::from(std::vector<int64_t>(order_.begin(), order_.end()));
    group_.broadcast(order, 0);
    const auto numbers = order.to_vector<int64_t>();
    return {numbers.begin(), numbers.end()};

// --- own-order
// Each rank makes buckets by the order of its own gradients.
    return order_;
