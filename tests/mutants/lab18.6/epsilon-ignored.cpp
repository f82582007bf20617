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
