// The sums are not reset for the next row.
// region: labs/02-kernels/matmul_ladder.cpp 3
    for (int64_t j0 = 0; j0 < N; j0 += kPanelColumns) {
        const int64_t columns = std::min(kPanelColumns, N - j0);
        for (int64_t k = 0; k < K; ++k)
            std::copy_n(b + k * N + j0, columns, panel + k * kPanelColumns);
        float sums[kPanelColumns] = {};
        for (int64_t i = 0; i < M; ++i) {
            for (int64_t k = 0; k < K; ++k) {
                const float factor = a[i * K + k];
                for (int64_t j = 0; j < kPanelColumns; ++j)
                    sums[j] += factor * panel[k * kPanelColumns + j];
            }
            std::copy_n(sums, columns, out + i * N + j0);
        }
    }
