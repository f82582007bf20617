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
