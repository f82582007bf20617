// Parameters are averaged, buffers are not.
    std::vector<dist::WorkHandle> under_way;
    for (const Tensor& parameter : module.parameters())
        under_way.push_back(group.all_reduce_async(parameter, dist::ReduceOp::kAvg));
    for (const dist::WorkHandle& work : under_way) work->wait();
