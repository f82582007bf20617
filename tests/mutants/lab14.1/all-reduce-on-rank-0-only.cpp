// Only rank 0 calls the all-reduce, which waits for the others.
    for (size_t i = 0; i < parameters.size(); ++i) {
        Tensor grad = gradient_of(parameters, i, group.rank());
        if (group.rank() == 0) group.all_reduce(grad, dist::ReduceOp::kSum);
        ops::mul_(grad, share);
    }
