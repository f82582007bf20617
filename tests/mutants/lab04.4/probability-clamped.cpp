// The probability is clamped instead of its logarithm.
// region: libmini/kernels/cpu/losses.cpp 3
    static_cast<void>(kMinLog);
    for (int64_t i = 0; i < n; ++i) {
        const float q = std::min(std::max(p[i], 1e-7f), 1.0f - 1e-7f);
        losses[i] = (t[i] - 1.0f) * std::log1p(-q) - t[i] * std::log(q);
    }
