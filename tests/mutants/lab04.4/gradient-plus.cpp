// The gradient has the wrong sign.
// region: libmini/kernels/cpu/losses.cpp 2
    std::fill_n(dx, rows * cols, 0.0f);
    for (int64_t i = 0; i < rows; ++i) dx[i * cols + target[i]] = g[i];
