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
