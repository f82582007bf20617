// --- b-repeated
// b stays at its first element.
// region: libmini/kernels/cpu/elementwise.cpp 1
        for (int64_t i = 0; i < n; ++i) out[i] = op(a[i * a_step], *b);

// --- each-chunk-computes-all
// Every chunk computes all elements.
// region: libmini/kernels/cpu/elementwise.cpp 3
    parallel_for(n, kElementGrain, [&](int64_t, int64_t) {
        for (int64_t i = 0; i < n; ++i) out[i] = op(x[i]);
    });

// --- operands-contiguous
// The operands begin where out begins, not at their offsets.
// region: libmini/kernels/cpu/elementwise.cpp 2
    loop.for_each_run([&](int64_t n, int64_t first, const std::array<int64_t, 2>&) {
        binary_run(op, n, out + first, a + first, a_step, b + first, b_step);
    });

// --- out-from-its-front
// Every run is written to the front of out.
// region: libmini/kernels/cpu/elementwise.cpp 2
    loop.for_each_run([&](int64_t n, int64_t, const std::array<int64_t, 2>& offsets) {
        binary_run(op, n, out, a + offsets[0], a_step, b + offsets[1], b_step);
    });

// --- relu-of-nan
// NaN becomes 0.
// region: libmini/kernels/cpu/elementwise.cpp 4
    return v > 0.0f ? v : 0.0f;

// --- steps-exchanged
// Each operand is read with the step of the other.
// region: libmini/kernels/cpu/elementwise.cpp 1
        for (int64_t i = 0; i < n; ++i) out[i] = op(a[i * b_step], b[i * a_step]);

// --- steps-of-one
// The steps are not used: the run is read as if it were contiguous.
// region: libmini/kernels/cpu/elementwise.cpp 1
        for (int64_t i = 0; i < n; ++i) out[i] = op(a[i], b[i]);
