// Every matrix starts from the same random numbers.
// region: libmini/parallel/power_sgd.cpp 1
    if (!options_.warm_start) ops::fill_(parts.all_Q, 0.0f);
    for (Factored& matrix : parts.matrices) {
        Generator same(options_.random_seed);
        on_cpu(matrix.Q, [&](Tensor& host) { draw_zero_columns(host, same); });
        orthogonalize(matrix.Q, options_.orthogonalization_epsilon);
    }
