// A warp computes 8 rows of 4 columns.
// region: libmini/kernels/cuda/matmul_naive.cu 2
    multiply_row_by_column(p, corner.row + threadIdx.x % kHigh,
                           corner.col + threadIdx.x / kHigh + threadIdx.y * 4);
