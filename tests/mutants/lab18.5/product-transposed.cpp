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
