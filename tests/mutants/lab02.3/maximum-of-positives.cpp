// The maximum is at least 0.
// region: libmini/kernels/cpu/softmax.cpp 1
    float greatest = 0.0f;
    for (int64_t j = 0; j < cols; ++j) greatest = std::max(greatest, x[j]);
    float total = 0.0f;
    for (int64_t j = 0; j < cols; ++j) total += std::exp(x[j] - greatest);
    const float log_total = std::log(total);
    for (int64_t j = 0; j < cols; ++j) y[j] = x[j] - greatest - log_total;
