// The sum is divided by rank + 1 instead of the number of ranks.
    static_cast<void>(share);
    for (size_t i = 0; i < parameters.size(); ++i) {
        Tensor grad = gradient_of(parameters, i, group.rank());
        group.all_reduce(grad, dist::ReduceOp::kSum);
        ops::mul_(grad, 1.0f / static_cast<float>(group.rank() + 1));
    }
