// A copy of each gradient is averaged, and thrown away.
    for (size_t i = 0; i < parameters.size(); ++i) {
        Tensor grad = ops::clone(gradient_of(parameters, i, group.rank()));
        group.all_reduce(grad, dist::ReduceOp::kSum);
        ops::mul_(grad, share);
    }
