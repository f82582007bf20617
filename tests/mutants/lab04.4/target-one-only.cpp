// Only the part of the target 1 is computed.
// region: libmini/kernels/cpu/losses.cpp 3
    for (int64_t i = 0; i < n; ++i) losses[i] = -t[i] * std::max(std::log(p[i]), kMinLog);
