// All take the last rank's order instead of rank 0's.
    const Tensor order = Tensor::from(std::vector<int64_t>(order_.begin(), order_.end()));
    group_->broadcast(order, group_->world_size() - 1);
    const auto numbers = order.to_vector<int64_t>();
    return {numbers.begin(), numbers.end()};
