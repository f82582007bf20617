// --- added-to-out
// The naive product is added to what out contains.
// region: labs/02-kernels/matmul_ladder.cpp 1
    for (int64_t i = 0; i < M; ++i)
        for (int64_t j = 0; j < N; ++j)
            for (int64_t k = 0; k < K; ++k)
                out[i * N + j] += a[i * K + k] * b[k * N + j];

// --- b-by-rows
// b is read along its rows, as if it were transposed.
// region: labs/02-kernels/matmul_ladder.cpp 1
    for (int64_t i = 0; i < M; ++i)
        for (int64_t j = 0; j < N; ++j) {
            float total = 0.0f;
            for (int64_t k = 0; k < K; ++k) total += a[i * K + k] * b[j * K + k];
            out[i * N + j] = total;
        }

// --- edge-left-out
// Only complete panels are multiplied.
// region: labs/02-kernels/matmul_ladder.cpp 3
    for (int64_t j0 = 0; j0 + kPanelColumns <= N; j0 += kPanelColumns) {
        const int64_t columns = std::min(kPanelColumns, N - j0);
        for (int64_t k = 0; k < K; ++k)
            std::copy_n(b + k * N + j0, columns, panel + k * kPanelColumns);
        for (int64_t i = 0; i < M; ++i) {
            float sums[kPanelColumns] = {};
            for (int64_t k = 0; k < K; ++k) {
                const float factor = a[i * K + k];
                for (int64_t j = 0; j < kPanelColumns; ++j)
                    sums[j] += factor * panel[k * kPanelColumns + j];
            }
            std::copy_n(sums, columns, out + i * N + j0);
        }
    }

// --- last-k-first
// The products of the largest k are added first: other bits.
// region: labs/02-kernels/matmul_ladder.cpp 3
    for (int64_t j0 = 0; j0 < N; j0 += kPanelColumns) {
        const int64_t columns = std::min(kPanelColumns, N - j0);
        for (int64_t k = 0; k < K; ++k)
            std::copy_n(b + k * N + j0, columns, panel + k * kPanelColumns);
        for (int64_t i = 0; i < M; ++i) {
            float sums[kPanelColumns] = {};
            for (int64_t k = K; k-- > 0;) {
                const float factor = a[i * K + k];
                for (int64_t j = 0; j < kPanelColumns; ++j)
                    sums[j] += factor * panel[k * kPanelColumns + j];
            }
            std::copy_n(sums, columns, out + i * N + j0);
        }
    }

// --- row-overwritten
// Each row of b replaces what was added before.
// region: labs/02-kernels/matmul_ladder.cpp 2
    for (int64_t i = 0; i < M; ++i)
        for (int64_t k = 0; k < K; ++k) {
            const float factor = a[i * K + k];
            for (int64_t j = 0; j < N; ++j) out[i * N + j] = factor * b[k * N + j];
        }

// --- stored-too-wide
// The last panel is stored as wide as the others.
// region: labs/02-kernels/matmul_ladder.cpp 3
    for (int64_t j0 = 0; j0 < N; j0 += kPanelColumns) {
        const int64_t columns = std::min(kPanelColumns, N - j0);
        for (int64_t k = 0; k < K; ++k)
            std::copy_n(b + k * N + j0, columns, panel + k * kPanelColumns);
        for (int64_t i = 0; i < M; ++i) {
            float sums[kPanelColumns] = {};
            for (int64_t k = 0; k < K; ++k) {
                const float factor = a[i * K + k];
                for (int64_t j = 0; j < kPanelColumns; ++j)
                    sums[j] += factor * panel[k * kPanelColumns + j];
            }
            std::copy_n(sums, kPanelColumns, out + i * N + j0);
        }
    }

// --- sums-kept
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
