// --- all-reduce-on-rank-0-only
// Only rank 0 calls the all-reduce, which waits for the others.
    for (size_t i = 0; i < parameters.size(); ++i) {
        Tensor grad = gradient_of(parameters, i, group.rank());
        if (group.rank() == 0) group.all_reduce(grad, dist::ReduceOp::kSum);
        ops::mul_(grad, share);
    }

// --- average-and-division
// The all-reduce averages, and the average is divided by the number of ranks again.
    for (size_t i = 0; i < parameters.size(); ++i) {
        Tensor grad = gradient_of(parameters, i, group.rank());
        group.all_reduce(grad, dist::ReduceOp::kAvg);
        ops::mul_(grad, share);
    }

// --- copy-averaged
// A copy of each gradient is averaged, and thrown away.
    for (size_t i = 0; i < parameters.size(); ++i) {
        Tensor grad = ops::clone(gradient_of(parameters, i, group.rank()));
        group.all_reduce(grad, dist::ReduceOp::kSum);
        ops::mul_(grad, share);
    }

// --- divided-by-the-rank
// The sum is divided by rank + 1 instead of the number of ranks.
    static_cast<void>(share);
    for (size_t i = 0; i < parameters.size(); ++i) {
        Tensor grad = gradient_of(parameters, i, group.rank());
        group.all_reduce(grad, dist::ReduceOp::kSum);
        ops::mul_(grad, 1.0f / static_cast<float>(group.rank() + 1));
    }

// --- last-parameter-left-out
// The last parameter is never averaged.
    for (size_t i = 0; i + 1 < parameters.size(); ++i) {
        Tensor grad = gradient_of(parameters, i, group.rank());
        group.all_reduce(grad, dist::ReduceOp::kSum);
        ops::mul_(grad, share);
    }

// --- parameter-not-gradient
// The parameters are averaged instead of their gradients, which stay each rank's own.
    for (Tensor parameter : parameters) {
        group.all_reduce(parameter, dist::ReduceOp::kSum);
        ops::mul_(parameter, share);
    }

// --- rank-0-sent-to-all
// All ranks take rank 0's gradients.
    static_cast<void>(share);
    for (size_t i = 0; i < parameters.size(); ++i)
        group.broadcast(gradient_of(parameters, i, group.rank()), 0);

// --- sum-not-mean
// Gradients are summed over the ranks and not divided.
    for (size_t i = 0; i < parameters.size(); ++i) {
        Tensor grad = gradient_of(parameters, i, group.rank());
        group.all_reduce(grad, dist::ReduceOp::kSum);
    }
    static_cast<void>(share);

// --- zeroed-gradients
// Gradients end as zeros, which are the same on all ranks too.
    for (size_t i = 0; i < parameters.size(); ++i) {
        Tensor grad = gradient_of(parameters, i, group.rank());
        group.all_reduce(grad, dist::ReduceOp::kSum);
        ops::mul_(grad, 0.0f * share);
    }
