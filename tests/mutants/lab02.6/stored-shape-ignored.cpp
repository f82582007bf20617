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
