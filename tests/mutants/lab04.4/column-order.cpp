// Rows and columns are exchanged.
// region: libmini/kernels/cpu/losses.cpp 1
    for (int64_t i = 0; i < rows; ++i) losses[i] = -x[(target[i] * rows + i) % (rows * cols)];
