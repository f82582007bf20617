// Each thread reads its factors from global memory.
// region: libmini/kernels/cuda/matmul_tiled.cu
    for (int64_t k = 0; k < p.a.cols; ++k)
        total += at_or_zero(p.a, corner.row + y, k) * at_or_zero(p.b, k, corner.col + x);
    a_tile[y][x] = b_tile[y][x] = total;
    __syncthreads();
    total = a_tile[y][x];
