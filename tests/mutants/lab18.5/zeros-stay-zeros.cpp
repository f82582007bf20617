// Columns of zeros are not drawn.
// region: libmini/parallel/power_sgd.cpp 1
    if (!options_.warm_start) ops::fill_(parts.all_Q, 0.0f);
    for (Factored& matrix : parts.matrices) {
        orthogonalize(matrix.Q, options_.orthogonalization_epsilon);
    }
