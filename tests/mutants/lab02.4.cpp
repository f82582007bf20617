// --- columns-not-shifted
// Nothing is subtracted from the elements of a column.
// region: libmini/kernels/cpu/norm.cpp 2
    for (int64_t n = 0; n < extents.N; ++n) {
        const float* const row = first + n * extents.C;
        for (int64_t c = 0; c < end - begin; ++c) {
            const double d = double{row[c]};
            sums[c] += d;
            squares[c] += d * d;
        }
    }

// --- first-not-added
// The mean is that of the distances from the first element.
// region: libmini/kernels/cpu/norm.cpp 3
    for (int64_t c = 0; c < end - begin; ++c) {
        const double m = sums[c] / count;
        mean[begin + c] = static_cast<float>(m);
        variance[begin + c] =
            static_cast<float>(std::max(squares[c] / count - m * m, 0.0));
    }

// --- float-difference
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

// --- mean-as-float
// The distances are from the mean that was rounded to float.
// region: libmini/kernels/cpu/norm.cpp 1
    mean[c] = static_cast<float>(
        sum_channel(extents, c, [&](int64_t k) { return double{x[k]}; }) / count);
    const double squares = sum_channel(extents, c, [&](int64_t k) {
        const double distance = double{x[k]} - double{mean[c]};
        return distance * distance;
    });
    variance[c] = static_cast<float>(squares / count);

// --- one-pass
// The mean of the squares minus the square of the mean.
// region: libmini/kernels/cpu/norm.cpp 1
    const double m =
        sum_channel(extents, c, [&](int64_t k) { return double{x[k]}; }) / count;
    const double squares =
        sum_channel(extents, c, [&](int64_t k) { return double{x[k]} * double{x[k]}; });
    mean[c] = static_cast<float>(m);
    variance[c] = static_cast<float>(squares / count - m * m);

// --- rows-of-the-chunk
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

// --- unbiased
// The squares are divided by the number of elements minus one.
// region: libmini/kernels/cpu/norm.cpp 1
    const double m =
        sum_channel(extents, c, [&](int64_t k) { return double{x[k]}; }) / count;
    const double squares = sum_channel(extents, c, [&](int64_t k) {
        const double distance = double{x[k]} - m;
        return distance * distance;
    });
    mean[c] = static_cast<float>(m);
    variance[c] = static_cast<float>(squares / (count - 1));
