// The all-reduce averages, and the average is divided by the number of ranks again.
    for (size_t i = 0; i < parameters.size(); ++i) {
        Tensor grad = gradient_of(parameters, i, group.rank());
        group.all_reduce(grad, dist::ReduceOp::kAvg);
        ops::mul_(grad, share);
    }
