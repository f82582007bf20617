// A row is taken to be as long as the chunk of columns.
// region: libmini/kernels/cpu/norm.cpp 2
    for (int64_t n = 0; n < extents.N; ++n) {
        const float* const row = first + n * (end - begin);
        for (int64_t c = 0; c < end - begin; ++c) {
            const double d = double{row[c]} - double{first[c]};
            sums[c] += d;
            squares[c] += d * d;
        }
    }
