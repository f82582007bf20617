// Only rank 0 calls the collectives, and waits for the others.
    if (group.rank() != 0) return;
    std::vector<dist::WorkHandle> under_way;
    for (const Tensor& parameter : module.parameters())
        under_way.push_back(group.all_reduce_async(parameter, dist::ReduceOp::kAvg));
    for (const Tensor& buffer : module.buffers())
        under_way.push_back(is_integer(buffer.dtype())
                                ? group.broadcast_async(buffer, 0)
                                : group.all_reduce_async(buffer, dist::ReduceOp::kAvg));
    for (const dist::WorkHandle& work : under_way) work->wait();
