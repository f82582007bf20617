// The last parameter is never averaged.
    for (size_t i = 0; i + 1 < parameters.size(); ++i) {
        Tensor grad = gradient_of(parameters, i, group.rank());
        group.all_reduce(grad, dist::ReduceOp::kSum);
        ops::mul_(grad, share);
    }
