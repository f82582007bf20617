#include "labs/02-kernels/matmul_ladder.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "libmini/core/error.hpp"

// [lab02 file]
namespace mini::kernels::cpu {
namespace {

// The width of a panel: 32 sums are 4 vectors of 8 floats, which stay in registers. The
// number is known to the compiler, so it unrolls the loop over them.
constexpr int64_t kPanelColumns = 32;

}  // namespace

void matmul_naive(float* out, const float* a, const float* b, int64_t M, int64_t N,
                  int64_t K) {
    // [lab02.3] Compute each element: a row of a times a column of b.
    for (int64_t i = 0; i < M; ++i)
        for (int64_t j = 0; j < N; ++j) {
            float total = 0.0f;
            for (int64_t k = 0; k < K; ++k) total += a[i * K + k] * b[k * N + j];
            out[i * N + j] = total;
        }
    // [lab02.3]
}

void matmul_reordered(float* out, const float* a, const float* b, int64_t M, int64_t N,
                      int64_t K) {
    std::fill(out, out + M * N, 0.0f);
    // [lab02.3] Add each element of a, times its row of b, to a row of out.
    for (int64_t i = 0; i < M; ++i)
        for (int64_t k = 0; k < K; ++k) {
            const float factor = a[i * K + k];
            for (int64_t j = 0; j < N; ++j) out[i * N + j] += factor * b[k * N + j];
        }
    // [lab02.3]
}

void matmul_blocked(float* out, const float* a, const float* b, int64_t M, int64_t N,
                    int64_t K) {
    std::vector<float> memory(static_cast<size_t>(K * kPanelColumns));
    float* const panel = memory.data();  // (K, kPanelColumns)
    // [lab02.3] Copy a panel of b; multiply each row of a by it, with local sums.
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
            std::copy_n(sums, columns, out + i * N + j0);
        }
    }
    // [lab02.3]
}

}  // namespace mini::kernels::cpu
// [lab02 file]
