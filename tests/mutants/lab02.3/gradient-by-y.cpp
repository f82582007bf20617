// The gradient subtracts y times the sum, not exp(y).
// region: libmini/kernels/cpu/softmax.cpp 2
    float total = 0.0f;
    for (int64_t j = 0; j < cols; ++j) total += g[j];
    for (int64_t j = 0; j < cols; ++j) dx[j] = g[j] - y[j] * total;
