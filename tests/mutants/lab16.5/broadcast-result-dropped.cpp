// The broadcast is done, but each rank returns its own order.
    const Tensor order = cpu_tensor(std::vector<int64_t>(order_.begin(), order_.end()));
    group_->broadcast(order, 0);
    return order_;
