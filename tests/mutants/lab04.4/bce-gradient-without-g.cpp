// The incoming gradient is ignored.
// region: libmini/kernels/cpu/losses.cpp 4
    static_cast<void>(g);
    for (int64_t i = 0; i < n; ++i)
        dp[i] = (p[i] - t[i]) / std::max((1.0f - p[i]) * p[i], kMinDivisor);
