// First the softmax, then its logarithm: a small softmax is 0.
// region: libmini/kernels/cpu/softmax.cpp 1
    const float greatest = *std::max_element(x, x + cols);
    float total = 0.0f;
    for (int64_t j = 0; j < cols; ++j) total += std::exp(x[j] - greatest);
    for (int64_t j = 0; j < cols; ++j) y[j] = std::log(std::exp(x[j] - greatest) / total);
