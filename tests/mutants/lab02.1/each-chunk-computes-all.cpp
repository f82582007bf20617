// Every chunk computes all elements.
// region: libmini/kernels/cpu/elementwise.cpp 3
    parallel_for(n, kElementGrain, [&](int64_t, int64_t) {
        for (int64_t i = 0; i < n; ++i) out[i] = op(x[i]);
    });
