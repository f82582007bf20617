// The gradient at the probabilities 0 and 1 is infinite or NaN.
// region: libmini/kernels/cpu/losses.cpp 4
    static_cast<void>(kMinDivisor);
    for (int64_t i = 0; i < n; ++i) dp[i] = g[i] * (p[i] - t[i]) / ((1.0f - p[i]) * p[i]);
