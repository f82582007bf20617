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
