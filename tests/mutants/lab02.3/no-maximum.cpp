// No maximum is subtracted: exp overflows.
// region: libmini/kernels/cpu/softmax.cpp 1
    float total = 0.0f;
    for (int64_t j = 0; j < cols; ++j) total += std::exp(x[j]);
    const float log_total = std::log(total);
    for (int64_t j = 0; j < cols; ++j) y[j] = x[j] - log_total;
