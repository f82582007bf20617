// threadIdx.x counts rows, as in the naive kernel.
// region: libmini/kernels/cuda/matmul_naive.cu 2
    multiply_row_by_column(p, corner.row + threadIdx.x, corner.col + threadIdx.y);
