// --- both-halves-into-out
// The sum of the second half replaces that of the first.
// region: libmini/kernels/cpu/reduce.cpp 1
    if (rows > kRowsInLine) {
        const int64_t half = rows / 2;
        sum_rows(out, x, half, cols, scratch);
        sum_rows(out, x + half * cols, rows - half, cols, scratch);
        return;
    }
    std::fill(out, out + cols, 0.0f);
    for (int64_t k = 0; k < rows; ++k)
        for (int64_t j = 0; j < cols; ++j) out[j] += x[k * cols + j];

// --- in-order
// All rows are added in order.
// region: libmini/kernels/cpu/reduce.cpp 1
    static_cast<void>(scratch);
    std::fill(out, out + cols, 0.0f);
    for (int64_t k = 0; k < rows; ++k)
        for (int64_t j = 0; j < cols; ++j) out[j] += x[k * cols + j];

// --- not-from-zero
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

// --- odd-row-lost
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

// --- rest-left-out
// The numbers after the last complete row of 32 are left out.
// region: libmini/kernels/cpu/reduce.cpp 2
    sum_rows(lanes, x, n / kFoldedColumns, kFoldedColumns, scratch);
    for (const float lane : lanes) total += lane;

// --- row-in-order
// A row is added in order.
// region: libmini/kernels/cpu/reduce.cpp 2
    static_cast<void>(scratch);
    static_cast<void>(lanes);
    for (int64_t i = 0; i < n; ++i) total += x[i];

// --- scratch-shared
// The halves of the second half overwrite its sum.
// region: libmini/kernels/cpu/reduce.cpp 1
    if (rows > kRowsInLine) {
        const int64_t half = rows / 2;
        sum_rows(out, x, half, cols, scratch);
        sum_rows(scratch, x + half * cols, rows - half, cols, scratch);
        for (int64_t j = 0; j < cols; ++j) out[j] += scratch[j];
        return;
    }
    std::fill(out, out + cols, 0.0f);
    for (int64_t k = 0; k < rows; ++k)
        for (int64_t j = 0; j < cols; ++j) out[j] += x[k * cols + j];
