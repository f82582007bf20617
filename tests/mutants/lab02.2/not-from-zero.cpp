// The rows are added to what out contains.
// region: libmini/kernels/cpu/reduce.cpp 1
    if (rows > kRowsInLine) {
        const int64_t half = rows / 2;
        sum_rows(out, x, half, cols, scratch + cols);
        sum_rows(scratch, x + half * cols, rows - half, cols, scratch + cols);
        for (int64_t j = 0; j < cols; ++j) out[j] += scratch[j];
        return;
    }
    for (int64_t k = 0; k < rows; ++k)
        for (int64_t j = 0; j < cols; ++j) out[j] += x[k * cols + j];
