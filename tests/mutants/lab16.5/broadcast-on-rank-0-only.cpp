// Only rank 0 calls the broadcast; the others never receive its order.
    const Tensor order = cpu_tensor(std::vector<int64_t>(order_.begin(), order_.end()));
    if (group_->rank() == 0) group_->broadcast(order, 0);
    const auto numbers = order.to_vector<int64_t>();
    return {numbers.begin(), numbers.end()};
