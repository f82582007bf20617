// Q is drawn again in every step, also with a warm start.
// region: libmini/parallel/power_sgd.cpp 1
    ops::fill_(parts.all_Q, 0.0f);
    for (Factored& matrix : parts.matrices) {
        on_cpu(matrix.Q, [&](Tensor& host) { draw_zero_columns(host, generator_); });
        orthogonalize(matrix.Q, options_.orthogonalization_epsilon);
    }
