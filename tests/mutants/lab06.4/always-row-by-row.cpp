// A factor that is stored transposed is read column by column.
// region: libmini/kernels/cuda/matmul_tiled.cu
    for (int64_t step = 0; step < p.a.cols; step += kTile) {
        a_tile[y][x] = at_or_zero(p.a, corner.row + y, step + x);
        b_tile[y][x] = at_or_zero(p.b, step + y, corner.col + x);
        __syncthreads();
        for (int k = 0; k < kTile; ++k) total += a_tile[y][k] * b_tile[k][x];
        __syncthreads();
    }
