// b stays at its first element.
// region: libmini/kernels/cpu/elementwise.cpp 1
        for (int64_t i = 0; i < n; ++i) out[i] = op(a[i * a_step], *b);
