// The walk that copies back begins where the first one ended.
    Tensor flat = Tensor::empty({numel});
    int64_t offset = 0;
    for (size_t i = 0; i < parameters.size(); ++i) {
        const Tensor grad = gradient_of(parameters, i, group.rank());
        Tensor part = next_part(flat, offset, grad);
        ops::copy_(part, grad);
    }
    group.all_reduce(flat, dist::ReduceOp::kSum);
    ops::mul_(flat, 1.0f / static_cast<float>(group.world_size()));
    for (const Tensor& parameter : parameters) {
        Tensor grad = parameter.grad();
        ops::copy_(grad, next_part(flat, offset, grad));
    }
