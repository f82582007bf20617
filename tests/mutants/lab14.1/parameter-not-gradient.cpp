// The parameters are averaged instead of their gradients, which stay each rank's own.
    for (Tensor parameter : parameters) {
        group.all_reduce(parameter, dist::ReduceOp::kSum);
        ops::mul_(parameter, share);
    }
