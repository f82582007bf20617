// The gradient that came last goes into the first bucket.
    std::ranges::reverse(order_);
    const Tensor order = Tensor::from(std::vector<int64_t>(order_.begin(), order_.end()));
    group_->broadcast(order, 0);
    const auto numbers = order.to_vector<int64_t>();
    return {numbers.begin(), numbers.end()};
