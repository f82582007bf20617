// --- flat-average-and-division
// The all-reduce averages, and the average is divided by the number of ranks again.
    Tensor flat = Tensor::empty({numel});
    int64_t offset = 0;
    for (size_t i = 0; i < parameters.size(); ++i) {
        const Tensor grad = gradient_of(parameters, i, group.rank());
        Tensor part = next_part(flat, offset, grad);
        ops::copy_(part, grad);
    }
    group.all_reduce(flat, dist::ReduceOp::kAvg);
    ops::mul_(flat, 1.0f / static_cast<float>(group.world_size()));
    offset = 0;
    for (const Tensor& parameter : parameters) {
        Tensor grad = parameter.grad();
        ops::copy_(grad, next_part(flat, offset, grad));
    }

// --- flat-first-part-for-all
// Every gradient gets the numbers at the start of the flat copy.
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
        offset = 0;
        Tensor grad = parameter.grad();
        ops::copy_(grad, next_part(flat, offset, grad));
    }

// --- flat-in-many-messages
// There is one all-reduce per parameter after all.
    static_cast<void>(numel);
    average_gradients(parameters, group);

// --- flat-never-copied-back
// The average stays in the flat copy.
    Tensor flat = Tensor::empty({numel});
    int64_t offset = 0;
    for (size_t i = 0; i < parameters.size(); ++i) {
        const Tensor grad = gradient_of(parameters, i, group.rank());
        Tensor part = next_part(flat, offset, grad);
        ops::copy_(part, grad);
    }
    group.all_reduce(flat, dist::ReduceOp::kSum);
    ops::mul_(flat, 1.0f / static_cast<float>(group.world_size()));

// --- flat-sum-not-mean
// The flat copy is summed and not divided.
    Tensor flat = Tensor::empty({numel});
    int64_t offset = 0;
    for (size_t i = 0; i < parameters.size(); ++i) {
        const Tensor grad = gradient_of(parameters, i, group.rank());
        Tensor part = next_part(flat, offset, grad);
        ops::copy_(part, grad);
    }
    group.all_reduce(flat, dist::ReduceOp::kSum);
    offset = 0;
    for (const Tensor& parameter : parameters) {
        Tensor grad = parameter.grad();
        ops::copy_(grad, next_part(flat, offset, grad));
    }

// --- offset-not-reset
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
