// Embedding: copies rows of a table, and adds the rows' gradients.
//
// An index may occur several times. Its gradients are added in the order of the indices, on
// one thread, so the bits of a sum do not depend on the number of threads.

#include <algorithm>
#include <cstdint>

#include "libmini/kernels/kernels.hpp"

namespace mini::kernels::cpu {

void embedding(float* out, const float* weight, const int64_t* indices, int64_t n,
               int64_t /*rows*/, int64_t cols) {
    for (int64_t i = 0; i < n; ++i)
        std::copy_n(weight + indices[i] * cols, cols, out + i * cols);
}

void embedding_backward(float* dweight, const float* g, const int64_t* indices, int64_t n,
                        int64_t rows, int64_t cols) {
    std::fill_n(dweight, rows * cols, 0.0f);
    for (int64_t i = 0; i < n; ++i) {
        float* const row = dweight + indices[i] * cols;
        for (int64_t j = 0; j < cols; ++j) row[j] += g[i * cols + j];
    }
}

}  // namespace mini::kernels::cpu
