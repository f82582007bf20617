// --- always-drawn-again
// Q is drawn again in every step, also with a warm start.
// region: libmini/parallel/power_sgd.cpp 1
    ops::fill_(parts.all_Q, 0.0f);
    for (Factored& matrix : parts.matrices) {
        on_cpu(matrix.Q, [&](Tensor& host) { draw_zero_columns(host, generator_); });
        orthogonalize(matrix.Q, options_.orthogonalization_epsilon);
    }

// --- always-warm
// Q is kept although the start is not warm.
// region: libmini/parallel/power_sgd.cpp 1
    for (Factored& matrix : parts.matrices) {
        on_cpu(matrix.Q, [&](Tensor& host) { draw_zero_columns(host, generator_); });
        orthogonalize(matrix.Q, options_.orthogonalization_epsilon);
    }

// --- bucket-by-reference
// The bucket is captured by reference, and error feedback's bucket has ended by then.
// region: libmini/parallel/power_sgd.cpp 2
    Cutter cutter(parts.all_whole);
    for (const Tensor& gradient : parts.whole) {
        Tensor to = cutter.next(gradient.shape());
        ops::copy_(to, gradient);
    }
    choose_Q(parts);
    for (Factored& matrix : parts.matrices)
        ops::copy_(matrix.P, ops::matmul(matrix.M, matrix.Q));
    return [self = shared_from_this(), &parts, &bucket, &group,
            whole = group.all_reduce_async(parts.all_whole, dist::ReduceOp::kAvg),
            first = group.all_reduce_async(parts.all_P)] {
        whole->wait();
        first->wait();
        self->finish(parts, bucket, group);
    };

// --- epsilon-ignored
// orthogonalization_epsilon is ignored for Q.
// region: libmini/parallel/power_sgd.cpp 1
    if (!options_.warm_start) ops::fill_(parts.all_Q, 0.0f);
    for (Factored& matrix : parts.matrices) {
        on_cpu(matrix.Q, [&](Tensor& host) { draw_zero_columns(host, generator_); });
        orthogonalize(matrix.Q);
    }

// --- one-q-for-all
// Every matrix starts from the same random numbers.
// region: libmini/parallel/power_sgd.cpp 1
    if (!options_.warm_start) ops::fill_(parts.all_Q, 0.0f);
    for (Factored& matrix : parts.matrices) {
        Generator same(options_.random_seed);
        on_cpu(matrix.Q, [&](Tensor& host) { draw_zero_columns(host, same); });
        orthogonalize(matrix.Q, options_.orthogonalization_epsilon);
    }

// --- p-averaged
// P is averaged and not summed.
// region: libmini/parallel/power_sgd.cpp 2
    Cutter cutter(parts.all_whole);
    for (const Tensor& gradient : parts.whole) {
        Tensor to = cutter.next(gradient.shape());
        ops::copy_(to, gradient);
    }
    choose_Q(parts);
    for (Factored& matrix : parts.matrices)
        ops::copy_(matrix.P, ops::matmul(matrix.M, matrix.Q));
    return [self = shared_from_this(), &parts, bucket, &group,
            whole = group.all_reduce_async(parts.all_whole, dist::ReduceOp::kAvg),
            first = group.all_reduce_async(parts.all_P, dist::ReduceOp::kAvg)] {
        whole->wait();
        first->wait();
        self->finish(parts, bucket, group);
    };

// --- product-transposed
// P is the product of the transposed matrix and Q.
// region: libmini/parallel/power_sgd.cpp 2
    Cutter cutter(parts.all_whole);
    for (const Tensor& gradient : parts.whole) {
        Tensor to = cutter.next(gradient.shape());
        ops::copy_(to, gradient);
    }
    choose_Q(parts);
    for (Factored& matrix : parts.matrices)
        ops::copy_(matrix.P,
                   ops::matmul(ops::reshape(matrix.M, {matrix.Q.size(0), -1}), matrix.Q,
                               {.transpose_a = true}));
    return [self = shared_from_this(), &parts, bucket, &group,
            whole = group.all_reduce_async(parts.all_whole, dist::ReduceOp::kAvg),
            first = group.all_reduce_async(parts.all_P)] {
        whole->wait();
        first->wait();
        self->finish(parts, bucket, group);
    };

// --- q-not-orthonormal
// Q is not made orthonormal.
// region: libmini/parallel/power_sgd.cpp 1
    if (!options_.warm_start) ops::fill_(parts.all_Q, 0.0f);
    for (Factored& matrix : parts.matrices) {
        on_cpu(matrix.Q, [&](Tensor& host) { draw_zero_columns(host, generator_); });
    }

// --- waits-in-the-start
// The uncompressed gradients are waited for in the start.
// region: libmini/parallel/power_sgd.cpp 2
    Cutter cutter(parts.all_whole);
    for (const Tensor& gradient : parts.whole) {
        Tensor to = cutter.next(gradient.shape());
        ops::copy_(to, gradient);
    }
    choose_Q(parts);
    for (Factored& matrix : parts.matrices)
        ops::copy_(matrix.P, ops::matmul(matrix.M, matrix.Q));
    group.all_reduce(parts.all_whole, dist::ReduceOp::kAvg);
    return [self = shared_from_this(), &parts, bucket, &group,
            first = group.all_reduce_async(parts.all_P)] {
        first->wait();
        self->finish(parts, bucket, group);
    };

// --- whole-summed
// The uncompressed gradients are summed and not averaged.
// region: libmini/parallel/power_sgd.cpp 2
    Cutter cutter(parts.all_whole);
    for (const Tensor& gradient : parts.whole) {
        Tensor to = cutter.next(gradient.shape());
        ops::copy_(to, gradient);
    }
    choose_Q(parts);
    for (Factored& matrix : parts.matrices)
        ops::copy_(matrix.P, ops::matmul(matrix.M, matrix.Q));
    return [self = shared_from_this(), &parts, bucket, &group,
            whole = group.all_reduce_async(parts.all_whole),
            first = group.all_reduce_async(parts.all_P)] {
        whole->wait();
        first->wait();
        self->finish(parts, bucket, group);
    };
