// b is read along its rows, as if it were transposed.
// region: labs/02-kernels/matmul_ladder.cpp 1
    for (int64_t i = 0; i < M; ++i)
        for (int64_t j = 0; j < N; ++j) {
            float total = 0.0f;
            for (int64_t k = 0; k < K; ++k) total += a[i * K + k] * b[j * K + k];
            out[i * N + j] = total;
        }
