// A row is added in order.
// region: libmini/kernels/cpu/reduce.cpp 2
    static_cast<void>(scratch);
    static_cast<void>(lanes);
    for (int64_t i = 0; i < n; ++i) total += x[i];
