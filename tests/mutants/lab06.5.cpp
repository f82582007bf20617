// --- a-of-b
// The tile of a is read by the layout of b.
// region: libmini/kernels/cuda/matmul_registers.cu 1
    for (int i = thread; i < kTile * kDepth; i += kThreads) {
        const Spot from_a = tile_element<kTile, kDepth>(p.b, i);
        const Spot from_b = tile_element<kDepth, kTile>(p.b, i);
        a_tile[from_a.col][from_a.row] =
            at_or_zero(p.a, corner.row + from_a.row, step + from_a.col);
        b_tile[from_b.row][from_b.col] =
            at_or_zero(p.b, step + from_b.row, corner.col + from_b.col);
    }
    __syncthreads();

// --- a-quarter-copied
// A thread copies one float of each tile.
// region: libmini/kernels/cuda/matmul_registers.cu 1
    for (int i = thread; i < kThreads; i += kThreads) {
        const Spot from_a = tile_element<kTile, kDepth>(p.a, i);
        const Spot from_b = tile_element<kDepth, kTile>(p.b, i);
        a_tile[from_a.col][from_a.row] =
            at_or_zero(p.a, corner.row + from_a.row, step + from_a.col);
        b_tile[from_b.row][from_b.col] =
            at_or_zero(p.b, step + from_b.row, corner.col + from_b.col);
    }
    __syncthreads();

// --- factors-swapped
// Rows and columns of the square are exchanged.
// region: libmini/kernels/cuda/matmul_registers.cu 2
    for (int k = 0; k < kDepth; ++k) {
        const float4 a4 = *reinterpret_cast<const float4*>(&a_tile[k][y]);
        const float4 b4 = *reinterpret_cast<const float4*>(&b_tile[k][x]);
        const float a[kEach] = {a4.x, a4.y, a4.z, a4.w};
        const float b[kEach] = {b4.x, b4.y, b4.z, b4.w};
        for (int i = 0; i < kEach; ++i)
            for (int j = 0; j < kEach; ++j) total[j][i] += a[i] * b[j];
    }
    __syncthreads();

// --- four-adjacent
// A thread copies four adjacent floats, one after another.
// region: libmini/kernels/cuda/matmul_registers.cu 1
    for (int i = 4 * thread; i < 4 * thread + 4; ++i) {
        const Spot from_a = tile_element<kTile, kDepth>(p.a, i);
        const Spot from_b = tile_element<kDepth, kTile>(p.b, i);
        a_tile[from_a.col][from_a.row] =
            at_or_zero(p.a, corner.row + from_a.row, step + from_a.col);
        b_tile[from_b.row][from_b.col] =
            at_or_zero(p.b, step + from_b.row, corner.col + from_b.col);
    }
    __syncthreads();

// --- no-barrier-after-the-copy
// The product begins before the tiles are copied.
// region: libmini/kernels/cuda/matmul_registers.cu 1
    for (int i = thread; i < kTile * kDepth; i += kThreads) {
        const Spot from_a = tile_element<kTile, kDepth>(p.a, i);
        const Spot from_b = tile_element<kDepth, kTile>(p.b, i);
        a_tile[from_a.col][from_a.row] =
            at_or_zero(p.a, corner.row + from_a.row, step + from_a.col);
        b_tile[from_b.row][from_b.col] =
            at_or_zero(p.b, step + from_b.row, corner.col + from_b.col);
    }

// --- no-barrier-after-the-product
// The next copy begins while the tiles are still read.
// region: libmini/kernels/cuda/matmul_registers.cu 2
    for (int k = 0; k < kDepth; ++k) {
        const float4 a4 = *reinterpret_cast<const float4*>(&a_tile[k][y]);
        const float4 b4 = *reinterpret_cast<const float4*>(&b_tile[k][x]);
        const float a[kEach] = {a4.x, a4.y, a4.z, a4.w};
        const float b[kEach] = {b4.x, b4.y, b4.z, b4.w};
        for (int i = 0; i < kEach; ++i)
            for (int j = 0; j < kEach; ++j) total[i][j] += a[i] * b[j];
    }

// --- single-floats
// Eight single floats are read for each k.
// region: libmini/kernels/cuda/matmul_registers.cu 2
    for (int k = 0; k < kDepth; ++k)
        for (int i = 0; i < kEach; ++i)
            for (int j = 0; j < kEach; ++j) total[i][j] += a_tile[k][y + i] * b_tile[k][x + j];
    __syncthreads();
