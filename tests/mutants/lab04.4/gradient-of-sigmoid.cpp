// The gradient is that of the scores, p - t.
// region: libmini/kernels/cpu/losses.cpp 4
    static_cast<void>(kMinDivisor);
    for (int64_t i = 0; i < n; ++i) dp[i] = g[i] * (p[i] - t[i]);
