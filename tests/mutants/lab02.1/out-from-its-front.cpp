// Every run is written to the front of out.
// region: libmini/kernels/cpu/elementwise.cpp 2
    loop.for_each_run([&](int64_t n, int64_t, const std::array<int64_t, 2>& offsets) {
        binary_run(op, n, out, a + offsets[0], a_step, b + offsets[1], b_step);
    });
