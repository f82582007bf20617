// b is copied in the order of a's storage.
// region: libmini/kernels/cuda/matmul_tiled.cu
    for (int64_t step = 0; step < p.a.cols; step += kTile) {
        a_tile[a_from.row][a_from.col] =
            at_or_zero(p.a, corner.row + a_from.row, step + a_from.col);
        b_tile[a_from.row][a_from.col] =
            at_or_zero(p.b, step + a_from.row, corner.col + a_from.col);
        __syncthreads();
        for (int k = 0; k < kTile; ++k) total += a_tile[y][k] * b_tile[k][x];
        __syncthreads();
    }
