// The gradient of each element ignores the other elements.
// region: libmini/kernels/cpu/softmax.cpp 2
    for (int64_t j = 0; j < cols; ++j) dx[j] = g[j] - std::exp(y[j]) * g[j];
