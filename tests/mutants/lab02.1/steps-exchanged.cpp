// Each operand is read with the step of the other.
// region: libmini/kernels/cpu/elementwise.cpp 1
        for (int64_t i = 0; i < n; ++i) out[i] = op(a[i * b_step], b[i * a_step]);
