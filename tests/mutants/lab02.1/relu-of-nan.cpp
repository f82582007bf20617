// NaN becomes 0.
// region: libmini/kernels/cpu/elementwise.cpp 4
    return v > 0.0f ? v : 0.0f;
