// Eight single floats are read for each k.
// region: libmini/kernels/cuda/matmul_registers.cu 2
    for (int k = 0; k < kDepth; ++k)
        for (int i = 0; i < kEach; ++i)
            for (int j = 0; j < kEach; ++j) total[i][j] += a_tile[k][y + i] * b_tile[k][x + j];
    __syncthreads();
