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
