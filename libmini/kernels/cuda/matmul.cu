// The product of two matrices in builds without cuBLAS, which run on the simulator. There an
// access of memory takes as long as several products, and a barrier longer. So a thread
// computes 8 x 8 elements: a float that it reads is used 8 times, and no thread waits for
// another. (Lab 06 shows what is fast on a GPU.)

#include <cstdint>

#include "libmini/kernels/cuda/each.hpp"
#include "libmini/kernels/cuda/kernels.hpp"

namespace mini::kernels::cuda {
namespace {

constexpr int kSide = 8;
constexpr int kSquaresPerBlock = 32;

// A factor: element (i, j) is data[i * down + j * right]. A transposed matrix is the same
// memory with its steps swapped.
struct Factor {
    const float* data;
    int64_t down, right;
};

// Each thread computes a square of out, with each sum in the order of k.
__global__ void matmul_kernel(float* out, Factor a, Factor b, int64_t M, int64_t N,
                              int64_t K, bool accumulate) {
    const int64_t across = mini::cuda::ceil_div(N, kSide);
    const int64_t row = thread_number() / across * kSide;
    const int64_t col = thread_number() % across * kSide;
    if (row >= M) return;

    const float*
        of_a[kSide];  // rows of a, and columns of b; past the edges the last ones
    const float* of_b[kSide];
    for (int i = 0; i < kSide; ++i) {
        of_a[i] = a.data + min(row + i, M - 1) * a.down;
        of_b[i] = b.data + min(col + i, N - 1) * b.right;
    }
    float total[kSide][kSide] = {};
    for (int64_t k = 0; k < K; ++k) {
        float x[kSide], y[kSide];
        for (int i = 0; i < kSide; ++i) {
            x[i] = of_a[i][k * a.right];
            y[i] = of_b[i][k * b.down];
        }
        for (int i = 0; i < kSide; ++i)
            for (int j = 0; j < kSide; ++j) total[i][j] += x[i] * y[j];
    }

    for (int i = 0; i < kSide && row + i < M; ++i)
        for (int j = 0; j < kSide && col + j < N; ++j) {
            float& element = out[(row + i) * N + col + j];
            element = accumulate ? element + total[i][j] : total[i][j];
        }
}

}  // namespace

void matmul(float* out, const float* a, const float* b, int64_t M, int64_t N, int64_t K,
            MatmulOptions options, cudaStream_t stream) {
    const Factor of_a{a, options.transpose_a ? 1 : K, options.transpose_a ? M : 1};
    const Factor of_b{b, options.transpose_b ? 1 : N, options.transpose_b ? K : 1};
    const int64_t squares =
        mini::cuda::ceil_div(M, kSide) * mini::cuda::ceil_div(N, kSide);
    mini::cuda::launch(matmul_kernel,
                       {.grid = mini::cuda::blocks(squares, kSquaresPerBlock),
                        .block = kSquaresPerBlock},
                       stream, out, of_a, of_b, M, N, K, options.accumulate);
}

}  // namespace mini::kernels::cuda
