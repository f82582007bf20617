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
