// Q is kept although the start is not warm.
// region: libmini/parallel/power_sgd.cpp 1
    for (Factored& matrix : parts.matrices) {
        on_cpu(matrix.Q, [&](Tensor& host) { draw_zero_columns(host, generator_); });
        orthogonalize(matrix.Q, options_.orthogonalization_epsilon);
    }
