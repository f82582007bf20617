// Embedding. Forward, a thread copies one float. Backward, a thread owns one column of the
// table and adds the gradients in the order of the indices, as on the CPU: without atomic
// additions, whose order differs between runs.
//
//     embedding            thread k    out[k] = weight[indices[i], j], k = i cols + j
//     embedding_backward   thread j    dweight[indices[i], j] += g[i, j], i = 0, 1, 2, ...
//
// Adjacent threads access adjacent floats.

#include "libmini/kernels/cuda/each.hpp"
#include "libmini/kernels/cuda/kernels.hpp"

namespace mini::kernels::cuda {
void embedding(float* out, const float* weight, const int64_t* indices, int64_t n,
               int64_t rows, int64_t cols, cudaStream_t stream) {
    const auto copy = [=] __device__(int64_t k) {
        const int64_t i = k / cols, row = indices[i];
        const bool is_row = row >= 0 && row < rows;  // the host cannot check it
        out[k] = is_row ? weight[row * cols + k - i * cols] : NAN;
    };
    each(copy, n * cols, stream);
}

void embedding_backward(float* dweight, const float* g, const int64_t* indices, int64_t n,
                        int64_t rows, int64_t cols, cudaStream_t stream) {
    fill(dweight, 0.0f, rows * cols, stream);
    const auto add = [=] __device__(int64_t j) {
        for (int64_t i = 0; i < n; ++i)
            if (indices[i] >= 0 && indices[i] < rows)
                dweight[indices[i] * cols + j] += g[i * cols + j];
    };
    each(add, cols, stream);
}

}  // namespace mini::kernels::cuda
