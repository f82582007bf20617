// --- always-row-by-row
// A factor that is stored transposed is read column by column.
// region: libmini/kernels/cuda/matmul_tiled.cu
    for (int64_t step = 0; step < p.a.cols; step += kTile) {
        a_tile[y][x] = at_or_zero(p.a, corner.row + y, step + x);
        b_tile[y][x] = at_or_zero(p.b, step + y, corner.col + x);
        __syncthreads();
        for (int k = 0; k < kTile; ++k) total += a_tile[y][k] * b_tile[k][x];
        __syncthreads();
    }

// --- early-return
// Threads past the edges leave before the barrier.
// region: libmini/kernels/cuda/matmul_tiled.cu
    if (corner.row + y >= p.a.rows || corner.col + x >= p.b.cols) return;
    for (int64_t step = 0; step < p.a.cols; step += kTile) {
        a_tile[a_from.row][a_from.col] =
            at_or_zero(p.a, corner.row + a_from.row, step + a_from.col);
        b_tile[b_from.row][b_from.col] =
            at_or_zero(p.b, step + b_from.row, corner.col + b_from.col);
        __syncthreads();
        for (int k = 0; k < kTile; ++k) total += a_tile[y][k] * b_tile[k][x];
        __syncthreads();
    }

// --- last-step-forgotten
// Only whole tiles along K are multiplied.
// region: libmini/kernels/cuda/matmul_tiled.cu
    for (int64_t step = 0; step + kTile <= p.a.cols; step += kTile) {
        a_tile[a_from.row][a_from.col] =
            at_or_zero(p.a, corner.row + a_from.row, step + a_from.col);
        b_tile[b_from.row][b_from.col] =
            at_or_zero(p.b, step + b_from.row, corner.col + b_from.col);
        __syncthreads();
        for (int k = 0; k < kTile; ++k) total += a_tile[y][k] * b_tile[k][x];
        __syncthreads();
    }

// --- layout-of-a-for-b
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

// --- no-barrier-after-the-copy
// The product begins before the tiles are copied.
// region: libmini/kernels/cuda/matmul_tiled.cu
    for (int64_t step = 0; step < p.a.cols; step += kTile) {
        a_tile[a_from.row][a_from.col] =
            at_or_zero(p.a, corner.row + a_from.row, step + a_from.col);
        b_tile[b_from.row][b_from.col] =
            at_or_zero(p.b, step + b_from.row, corner.col + b_from.col);
        for (int k = 0; k < kTile; ++k) total += a_tile[y][k] * b_tile[k][x];
        __syncthreads();
    }

// --- no-barrier-after-the-product
// The next copy begins while the tiles are still read.
// region: libmini/kernels/cuda/matmul_tiled.cu
    for (int64_t step = 0; step < p.a.cols; step += kTile) {
        a_tile[a_from.row][a_from.col] =
            at_or_zero(p.a, corner.row + a_from.row, step + a_from.col);
        b_tile[b_from.row][b_from.col] =
            at_or_zero(p.b, step + b_from.row, corner.col + b_from.col);
        __syncthreads();
        for (int k = 0; k < kTile; ++k) total += a_tile[y][k] * b_tile[k][x];
    }

// --- no-tiles
// Each thread reads its factors from global memory.
// region: libmini/kernels/cuda/matmul_tiled.cu
    for (int64_t k = 0; k < p.a.cols; ++k)
        total += at_or_zero(p.a, corner.row + y, k) * at_or_zero(p.b, k, corner.col + x);
    a_tile[y][x] = b_tile[y][x] = total;
    __syncthreads();
    total = a_tile[y][x];

// --- past-the-edges
// Elements past the edges are read.
// region: libmini/kernels/cuda/matmul_tiled.cu
    for (int64_t step = 0; step < p.a.cols; step += kTile) {
        a_tile[a_from.row][a_from.col] =
            p.a.data[(corner.row + a_from.row) * p.a.row_step +
                     (step + a_from.col) * p.a.col_step];
        b_tile[b_from.row][b_from.col] =
            at_or_zero(p.b, step + b_from.row, corner.col + b_from.col);
        __syncthreads();
        for (int k = 0; k < kTile; ++k) total += a_tile[y][k] * b_tile[k][x];
        __syncthreads();
    }
