// --- epsilon-ignored
// orthogonalization_epsilon is ignored for P.
    for (Factored& matrix : parts.matrices) {
        orthogonalize(matrix.P);
        ops::copy_(matrix.Q, ops::matmul(matrix.M, matrix.P, {.transpose_a = true}));
    }
    group.all_reduce(parts.all_Q, dist::ReduceOp::kAvg);
    for (Factored& matrix : parts.matrices)
        ops::copy_(matrix.M, ops::matmul(matrix.P, matrix.Q, {.transpose_b = true}));
    if (Tensor sent = bucket.sent; sent.defined()) ops::copy_(sent, bucket.buffer);
    Cutter cutter(parts.all_whole);
    for (Tensor& gradient : parts.whole)
        ops::copy_(gradient, cutter.next(gradient.shape()));

// --- p-not-orthonormal
// P is not made orthonormal.
    for (Factored& matrix : parts.matrices) {
        ops::copy_(matrix.Q, ops::matmul(matrix.M, matrix.P, {.transpose_a = true}));
    }
    group.all_reduce(parts.all_Q, dist::ReduceOp::kAvg);
    for (Factored& matrix : parts.matrices)
        ops::copy_(matrix.M, ops::matmul(matrix.P, matrix.Q, {.transpose_b = true}));
    if (Tensor sent = bucket.sent; sent.defined()) ops::copy_(sent, bucket.buffer);
    Cutter cutter(parts.all_whole);
    for (Tensor& gradient : parts.whole)
        ops::copy_(gradient, cutter.next(gradient.shape()));

// --- q-averaged-too-early
// Q is averaged before it is computed.
    for (Factored& matrix : parts.matrices) {
        orthogonalize(matrix.P, options_.orthogonalization_epsilon);
    }
    group.all_reduce(parts.all_Q, dist::ReduceOp::kAvg);
    for (Factored& matrix : parts.matrices)
        ops::copy_(matrix.Q, ops::matmul(matrix.M, matrix.P, {.transpose_a = true}));
    for (Factored& matrix : parts.matrices)
        ops::copy_(matrix.M, ops::matmul(matrix.P, matrix.Q, {.transpose_b = true}));
    if (Tensor sent = bucket.sent; sent.defined()) ops::copy_(sent, bucket.buffer);
    Cutter cutter(parts.all_whole);
    for (Tensor& gradient : parts.whole)
        ops::copy_(gradient, cutter.next(gradient.shape()));

// --- q-of-this-rank
// Q is not averaged: each rank has a product of its own.
    for (Factored& matrix : parts.matrices) {
        orthogonalize(matrix.P, options_.orthogonalization_epsilon);
        ops::copy_(matrix.Q, ops::matmul(matrix.M, matrix.P, {.transpose_a = true}));
    }
    static_cast<void>(group);
    for (Factored& matrix : parts.matrices)
        ops::copy_(matrix.M, ops::matmul(matrix.P, matrix.Q, {.transpose_b = true}));
    if (Tensor sent = bucket.sent; sent.defined()) ops::copy_(sent, bucket.buffer);
    Cutter cutter(parts.all_whole);
    for (Tensor& gradient : parts.whole)
        ops::copy_(gradient, cutter.next(gradient.shape()));

// --- q-summed
// Q is summed and not averaged.
    for (Factored& matrix : parts.matrices) {
        orthogonalize(matrix.P, options_.orthogonalization_epsilon);
        ops::copy_(matrix.Q, ops::matmul(matrix.M, matrix.P, {.transpose_a = true}));
    }
    group.all_reduce(parts.all_Q);
    for (Factored& matrix : parts.matrices)
        ops::copy_(matrix.M, ops::matmul(matrix.P, matrix.Q, {.transpose_b = true}));
    if (Tensor sent = bucket.sent; sent.defined()) ops::copy_(sent, bucket.buffer);
    Cutter cutter(parts.all_whole);
    for (Tensor& gradient : parts.whole)
        ops::copy_(gradient, cutter.next(gradient.shape()));

// --- sent-after-the-averages
// `sent` has the averages of the uncompressed gradients.
    for (Factored& matrix : parts.matrices) {
        orthogonalize(matrix.P, options_.orthogonalization_epsilon);
        ops::copy_(matrix.Q, ops::matmul(matrix.M, matrix.P, {.transpose_a = true}));
    }
    group.all_reduce(parts.all_Q, dist::ReduceOp::kAvg);
    for (Factored& matrix : parts.matrices)
        ops::copy_(matrix.M, ops::matmul(matrix.P, matrix.Q, {.transpose_b = true}));
    Cutter cutter(parts.all_whole);
    for (Tensor& gradient : parts.whole)
        ops::copy_(gradient, cutter.next(gradient.shape()));
    if (Tensor sent = bucket.sent; sent.defined()) ops::copy_(sent, bucket.buffer);

// --- sent-before-the-product
// `sent` has the matrix before it is replaced.
    if (Tensor sent = bucket.sent; sent.defined()) ops::copy_(sent, bucket.buffer);
    for (Factored& matrix : parts.matrices) {
        orthogonalize(matrix.P, options_.orthogonalization_epsilon);
        ops::copy_(matrix.Q, ops::matmul(matrix.M, matrix.P, {.transpose_a = true}));
    }
    group.all_reduce(parts.all_Q, dist::ReduceOp::kAvg);
    for (Factored& matrix : parts.matrices)
        ops::copy_(matrix.M, ops::matmul(matrix.P, matrix.Q, {.transpose_b = true}));
    Cutter cutter(parts.all_whole);
    for (Tensor& gradient : parts.whole)
        ops::copy_(gradient, cutter.next(gradient.shape()));

// --- whole-left-alone
// The uncompressed gradients stay this rank's own.
    for (Factored& matrix : parts.matrices) {
        orthogonalize(matrix.P, options_.orthogonalization_epsilon);
        ops::copy_(matrix.Q, ops::matmul(matrix.M, matrix.P, {.transpose_a = true}));
    }
    group.all_reduce(parts.all_Q, dist::ReduceOp::kAvg);
    for (Factored& matrix : parts.matrices)
        ops::copy_(matrix.M, ops::matmul(matrix.P, matrix.Q, {.transpose_b = true}));
    if (Tensor sent = bucket.sent; sent.defined()) ops::copy_(sent, bucket.buffer);
