// log(1 - p) rounds small probabilities away.
// region: libmini/kernels/cpu/losses.cpp 3
    for (int64_t i = 0; i < n; ++i)
        losses[i] = (t[i] - 1.0f) * std::max(std::log(1.0f - p[i]), kMinLog) -
                    t[i] * std::max(std::log(p[i]), kMinLog);
