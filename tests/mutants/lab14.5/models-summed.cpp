// The models are added up.
    std::vector<dist::WorkHandle> under_way;
    for (const Tensor& parameter : module.parameters())
        under_way.push_back(group.all_reduce_async(parameter, dist::ReduceOp::kSum));
    for (const Tensor& buffer : module.buffers())
        under_way.push_back(is_integer(buffer.dtype())
                                ? group.broadcast_async(buffer, 0)
                                : group.all_reduce_async(buffer, dist::ReduceOp::kSum));
    for (const dist::WorkHandle& work : under_way) work->wait();
