// The sign is missing: training would increase the loss.
// region: libmini/kernels/cpu/losses.cpp 1
    for (int64_t i = 0; i < rows; ++i) losses[i] = x[i * cols + target[i]];
