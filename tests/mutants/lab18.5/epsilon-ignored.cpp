// orthogonalization_epsilon is ignored for Q.
// region: libmini/parallel/power_sgd.cpp 1
    if (!options_.warm_start) ops::fill_(parts.all_Q, 0.0f);
    for (Factored& matrix : parts.matrices) {
        on_cpu(matrix.Q, [&](Tensor& host) { draw_zero_columns(host, generator_); });
        orthogonalize(matrix.Q);
    }
