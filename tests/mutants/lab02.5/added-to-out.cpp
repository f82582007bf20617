// The naive product is added to what out contains.
// region: labs/02-kernels/matmul_ladder.cpp 1
    for (int64_t i = 0; i < M; ++i)
        for (int64_t j = 0; j < N; ++j)
            for (int64_t k = 0; k < K; ++k)
                out[i * N + j] += a[i * K + k] * b[k * N + j];
