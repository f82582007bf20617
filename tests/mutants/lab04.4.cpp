// --- always-mean
// The reduction is not passed on.
// region: libmini/autograd/losses.cpp 1
    static_cast<void>(reduction);
    return nll_loss(log_softmax(scores), target);

// --- bce-gradient-without-g
// The incoming gradient is ignored.
// region: libmini/kernels/cpu/losses.cpp 4
    static_cast<void>(g);
    for (int64_t i = 0; i < n; ++i)
        dp[i] = (p[i] - t[i]) / std::max((1.0f - p[i]) * p[i], kMinDivisor);

// --- column-order
// Rows and columns are exchanged.
// region: libmini/kernels/cpu/losses.cpp 1
    for (int64_t i = 0; i < rows; ++i) losses[i] = -x[(target[i] * rows + i) % (rows * cols)];

// --- divisor-not-clamped
// The gradient at the probabilities 0 and 1 is infinite or NaN.
// region: libmini/kernels/cpu/losses.cpp 4
    static_cast<void>(kMinDivisor);
    for (int64_t i = 0; i < n; ++i) dp[i] = g[i] * (p[i] - t[i]) / ((1.0f - p[i]) * p[i]);

// --- first-row-only
// Every row reads the first row's log-probabilities.
// region: libmini/kernels/cpu/losses.cpp 1
    for (int64_t i = 0; i < rows; ++i) losses[i] = -x[target[i]] + 0.0f * static_cast<float>(cols);

// --- gradient-of-sigmoid
// The gradient is that of the scores, p - t.
// region: libmini/kernels/cpu/losses.cpp 4
    static_cast<void>(kMinDivisor);
    for (int64_t i = 0; i < n; ++i) dp[i] = g[i] * (p[i] - t[i]);

// --- gradient-plus
// The gradient has the wrong sign.
// region: libmini/kernels/cpu/losses.cpp 2
    std::fill_n(dx, rows * cols, 0.0f);
    for (int64_t i = 0; i < rows; ++i) dx[i * cols + target[i]] = g[i];

// --- gradient-without-g
// The incoming gradient is ignored.
// region: libmini/kernels/cpu/losses.cpp 2
    std::fill_n(dx, rows * cols, 0.0f);
    for (int64_t i = 0; i < rows; ++i) dx[i * cols + target[i]] = -1.0f + 0.0f * g[i];

// --- log-of-difference
// log(1 - p) rounds small probabilities away.
// region: libmini/kernels/cpu/losses.cpp 3
    for (int64_t i = 0; i < n; ++i)
        losses[i] = (t[i] - 1.0f) * std::max(std::log(1.0f - p[i]), kMinLog) -
                    t[i] * std::max(std::log(p[i]), kMinLog);

// --- logarithms-not-clamped
// The logarithm of 0 is infinite.
// region: libmini/kernels/cpu/losses.cpp 3
    static_cast<void>(kMinLog);
    for (int64_t i = 0; i < n; ++i)
        losses[i] = (t[i] - 1.0f) * std::log1p(-p[i]) - t[i] * std::log(p[i]);

// --- no-minus
// The sign is missing: training would increase the loss.
// region: libmini/kernels/cpu/losses.cpp 1
    for (int64_t i = 0; i < rows; ++i) losses[i] = x[i * cols + target[i]];

// --- no-zeros
// The other elements keep what was in the memory.
// region: libmini/kernels/cpu/losses.cpp 2
    for (int64_t i = 0; i < rows * cols; ++i) dx[i] = 0.5f;
    for (int64_t i = 0; i < rows; ++i) dx[i * cols + target[i]] = -g[i];

// --- probability-clamped
// The probability is clamped instead of its logarithm.
// region: libmini/kernels/cpu/losses.cpp 3
    static_cast<void>(kMinLog);
    for (int64_t i = 0; i < n; ++i) {
        const float q = std::min(std::max(p[i], 1e-7f), 1.0f - 1e-7f);
        losses[i] = (t[i] - 1.0f) * std::log1p(-q) - t[i] * std::log(q);
    }

// --- scores-as-log-probabilities
// The scores are taken for log-probabilities.
// region: libmini/autograd/losses.cpp 1
    return nll_loss(scores, target, reduction);

// --- softmax-then-log
// The logarithm of a softmax: log(0) for a score far below the maximum.
// region: libmini/autograd/losses.cpp 1
    return nll_loss(log(exp(scores) / sum(exp(scores), {1}, true)), target, reduction);

// --- softmax-twice
// log_softmax is applied to probabilities.
// region: libmini/autograd/losses.cpp 1
    return nll_loss(log_softmax(exp(log_softmax(scores))), target, reduction);

// --- target-one-only
// Only the part of the target 1 is computed.
// region: libmini/kernels/cpu/losses.cpp 3
    for (int64_t i = 0; i < n; ++i) losses[i] = -t[i] * std::max(std::log(p[i]), kMinLog);
