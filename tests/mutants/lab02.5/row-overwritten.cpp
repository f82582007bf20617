// Each row of b replaces what was added before.
// region: labs/02-kernels/matmul_ladder.cpp 2
    for (int64_t i = 0; i < M; ++i)
        for (int64_t k = 0; k < K; ++k) {
            const float factor = a[i * K + k];
            for (int64_t j = 0; j < N; ++j) out[i * N + j] = factor * b[k * N + j];
        }
