// --- accumulate-ignored
// The product always replaces out.
// region: libmini/kernels/cpu/matmul.cpp 1
    static_cast<void>(accumulate);
    parallel_for(out.rows(), grain, [&](int64_t begin, int64_t end) {
        out.middleRows(begin, end - begin).noalias() =
            a.middleRows(begin, end - begin) * b;
    });

// --- always-added
// The product is always added to out.
// region: libmini/kernels/cpu/matmul.cpp 1
    static_cast<void>(accumulate);
    parallel_for(out.rows(), grain, [&](int64_t begin, int64_t end) {
        out.middleRows(begin, end - begin).noalias() +=
            a.middleRows(begin, end - begin) * b;
    });

// --- first-rows-of-a
// Every chunk multiplies the first rows of a.
// region: libmini/kernels/cpu/matmul.cpp 1
    parallel_for(out.rows(), grain, [&](int64_t begin, int64_t end) {
        auto rows = out.middleRows(begin, end - begin);
        if (accumulate)
            rows.noalias() += a.topRows(end - begin) * b;
        else
            rows.noalias() = a.topRows(end - begin) * b;
    });

// --- one-transpose
// If both operands are transposed, only the first is.
// region: libmini/kernels/cpu/matmul.cpp 2
    const MatrixMap result(out, M, N);
    const ConstMatrixMap left(a, transpose_a ? K : M, transpose_a ? M : K);
    const ConstMatrixMap right(b, transpose_b ? N : K, transpose_b ? K : N);
    if (transpose_a)
        multiply(result, left.transpose(), right, accumulate);
    else if (transpose_b)
        multiply(result, left, right.transpose(), accumulate);
    else
        multiply(result, left, right, accumulate);

// --- reshaped
// A transposed array is read as if it were stored in the other order.
// region: libmini/kernels/cpu/matmul.cpp 2
    static_cast<void>(transpose_a);
    static_cast<void>(transpose_b);
    multiply(MatrixMap(out, M, N), ConstMatrixMap(a, M, K), ConstMatrixMap(b, K, N),
             accumulate);

// --- rows-copied
// The rows are a copy: the product is computed and lost.
// region: libmini/kernels/cpu/matmul.cpp 1
    parallel_for(out.rows(), grain, [&](int64_t begin, int64_t end) {
        Matrix rows = out.middleRows(begin, end - begin);
        if (accumulate)
            rows.noalias() += a.middleRows(begin, end - begin) * b;
        else
            rows.noalias() = a.middleRows(begin, end - begin) * b;
    });

// --- stored-shape-ignored
// All arrays are mapped as if they were not transposed.
// region: libmini/kernels/cpu/matmul.cpp 2
    const MatrixMap result(out, M, N);
    const ConstMatrixMap left(a, M, K), right(b, K, N);
    if (transpose_a && transpose_b)
        multiply(result, left.transpose(), right.transpose(), accumulate);
    else if (transpose_a)
        multiply(result, left.transpose(), right, accumulate);
    else if (transpose_b)
        multiply(result, left, right.transpose(), accumulate);
    else
        multiply(result, left, right, accumulate);
