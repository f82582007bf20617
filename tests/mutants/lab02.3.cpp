// --- argmax-ignores-nan
// NaN is never the maximum.
// region: libmini/kernels/cpu/reduce.cpp
            for (int64_t j = 1; j < cols; ++j)
                if (row[j] > row[best]) best = j;

// --- argmax-last
// Of equal maxima the last is taken.
// region: libmini/kernels/cpu/reduce.cpp
            for (int64_t j = 1; j < cols && !std::isnan(row[best]); ++j)
                if (row[j] >= row[best] || std::isnan(row[j])) best = j;

// --- gradient-without-sum
// The gradient of each element ignores the other elements.
// region: libmini/kernels/cpu/softmax.cpp 2
    for (int64_t j = 0; j < cols; ++j) dx[j] = g[j] - std::exp(y[j]) * g[j];

// --- log-of-softmax
// First the softmax, then its logarithm: a small softmax is 0.
// region: libmini/kernels/cpu/softmax.cpp 1
    const float greatest = *std::max_element(x, x + cols);
    float total = 0.0f;
    for (int64_t j = 0; j < cols; ++j) total += std::exp(x[j] - greatest);
    for (int64_t j = 0; j < cols; ++j) y[j] = std::log(std::exp(x[j] - greatest) / total);

// --- logarithm-added-first
// The maximum and the logarithm are added first: digits are lost.
// region: libmini/kernels/cpu/softmax.cpp 1
    const float greatest = *std::max_element(x, x + cols);
    float total = 0.0f;
    for (int64_t j = 0; j < cols; ++j) total += std::exp(x[j] - greatest);
    const float log_total = greatest + std::log(total);
    for (int64_t j = 0; j < cols; ++j) y[j] = x[j] - log_total;

// --- maximum-of-positives
// The maximum is at least 0.
// region: libmini/kernels/cpu/softmax.cpp 1
    float greatest = 0.0f;
    for (int64_t j = 0; j < cols; ++j) greatest = std::max(greatest, x[j]);
    float total = 0.0f;
    for (int64_t j = 0; j < cols; ++j) total += std::exp(x[j] - greatest);
    const float log_total = std::log(total);
    for (int64_t j = 0; j < cols; ++j) y[j] = x[j] - greatest - log_total;

// --- no-maximum
// No maximum is subtracted: exp overflows.
// region: libmini/kernels/cpu/softmax.cpp 1
    float total = 0.0f;
    for (int64_t j = 0; j < cols; ++j) total += std::exp(x[j]);
    const float log_total = std::log(total);
    for (int64_t j = 0; j < cols; ++j) y[j] = x[j] - log_total;
