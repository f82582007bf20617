// A transposed array is read as if it were stored in the other order.
// region: libmini/kernels/cpu/matmul.cpp 2
    static_cast<void>(transpose_a);
    static_cast<void>(transpose_b);
    multiply(MatrixMap(out, M, N), ConstMatrixMap(a, M, K), ConstMatrixMap(b, K, N),
             accumulate);
