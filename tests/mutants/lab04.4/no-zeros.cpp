// The other elements keep what was in the memory.
// region: libmini/kernels/cpu/losses.cpp 2
    for (int64_t i = 0; i < rows * cols; ++i) dx[i] = 0.5f;
    for (int64_t i = 0; i < rows; ++i) dx[i * cols + target[i]] = -g[i];
