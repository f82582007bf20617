// The maximum and the logarithm are added first: digits are lost.
// region: libmini/kernels/cpu/softmax.cpp 1
    const float greatest = *std::max_element(x, x + cols);
    float total = 0.0f;
    for (int64_t j = 0; j < cols; ++j) total += std::exp(x[j] - greatest);
    const float log_total = greatest + std::log(total);
    for (int64_t j = 0; j < cols; ++j) y[j] = x[j] - log_total;
