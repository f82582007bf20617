// The steps are not used: the run is read as if it were contiguous.
// region: libmini/kernels/cpu/elementwise.cpp 1
        for (int64_t i = 0; i < n; ++i) out[i] = op(a[i], b[i]);
