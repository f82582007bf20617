// The operands begin where out begins, not at their offsets.
// region: libmini/kernels/cpu/elementwise.cpp 2
    loop.for_each_run([&](int64_t n, int64_t first, const std::array<int64_t, 2>&) {
        binary_run(op, n, out + first, a + first, a_step, b + first, b_step);
    });
