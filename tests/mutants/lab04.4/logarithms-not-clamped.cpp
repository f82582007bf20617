// The logarithm of 0 is infinite.
// region: libmini/kernels/cpu/losses.cpp 3
    static_cast<void>(kMinLog);
    for (int64_t i = 0; i < n; ++i)
        losses[i] = (t[i] - 1.0f) * std::log1p(-p[i]) - t[i] * std::log(p[i]);
