// The difference from the first element is rounded to float.
// region: libmini/kernels/cpu/norm.cpp 2
    for (int64_t n = 0; n < extents.N; ++n) {
        const float* const row = first + n * extents.C;
        for (int64_t c = 0; c < end - begin; ++c) {
            const double d = row[c] - first[c];
            sums[c] += d;
            squares[c] += d * d;
        }
    }
