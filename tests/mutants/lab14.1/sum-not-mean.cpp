// Gradients are summed over the ranks and not divided.
    for (size_t i = 0; i < parameters.size(); ++i) {
        Tensor grad = gradient_of(parameters, i, group.rank());
        group.all_reduce(grad, dist::ReduceOp::kSum);
    }
    static_cast<void>(share);
