// Counts of batches are summed like numbers.
    std::vector<dist::WorkHandle> under_way;
    for (const Tensor& parameter : module.parameters())
        under_way.push_back(group.all_reduce_async(parameter, dist::ReduceOp::kAvg));
    for (const Tensor& buffer : module.buffers())
        under_way.push_back(group.all_reduce_async(
            buffer,
            is_integer(buffer.dtype()) ? dist::ReduceOp::kSum : dist::ReduceOp::kAvg));
    for (const dist::WorkHandle& work : under_way) work->wait();
