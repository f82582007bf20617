// Max pooling: one thread per result.
//
//     forward     one output     reads its window, row after row
//     backward    one input      reads the indices of the windows that contain it
//
// In the backward pass, a thread adds the gradients of the windows whose maximum is its
// input. So no two threads write to the same address, and the order of summation is the
// same as on the CPU.
//
// Traffic: forward reads x once and writes y and `indices`; backward reads g and
// `indices` once from memory, (kernel / stride)² times from the cache, and writes dx.

#include "libmini/kernels/cuda/each.hpp"
#include "libmini/kernels/cuda/kernels.hpp"
#include "libmini/kernels/cuda/strides.hpp"

namespace mini::kernels::cuda {
void max_pool2d(float* y, int32_t* indices, const float* x, ImageExtents in,
                Window window, cudaStream_t stream) {
    const int64_t Ho = window.output(in.H), Wo = window.output(in.W);
    const Divider by_Ho(Ho), by_Wo(Wo);
    const auto pool = [=] __device__(int64_t k) {
        const auto [line, j] = by_Wo.divide(k);
        const auto [plane, i] = by_Ho.divide(line);
        const int64_t h = i * window.stride - window.padding;
        const int64_t w = j * window.stride - window.padding;
        const int64_t top = max(h, int64_t{0}), bottom = min(h + window.kernel, in.H);
        const int64_t left = max(w, int64_t{0}), right = min(w + window.kernel, in.W);

        // Keep the greatest element so far; only a greater element, or NaN, replaces it.
        const float* from = x + plane * in.H * in.W;
        float greatest = -INFINITY;
        int64_t place = top * in.W + left;
        for (int64_t row = top; row < bottom; ++row)
            for (int64_t col = left; col < right; ++col) {
                const float value = from[row * in.W + col];
                if (value > greatest || value != value) {
                    greatest = value;
                    place = row * in.W + col;
                }
            }
        y[k] = greatest;
        indices[k] = static_cast<int32_t>(place);
    };
    each(pool, in.N * in.C * Ho * Wo, stream);
}

void max_pool2d_backward(float* dx, const float* g, const int32_t* indices,
                         ImageExtents in, Window window, cudaStream_t stream) {
    const int64_t padding = window.padding;
    const Divider by_H(in.H), by_W(in.W), stride(window.stride);
    const Windows rows{window.kernel, window.output(in.H), stride};
    const Windows cols{window.kernel, window.output(in.W), stride};
    const auto gradient = [=] __device__(int64_t k) {
        const auto [line, w] = by_W.divide(k);
        const auto [plane, h] = by_H.divide(line);
        const auto mine = static_cast<int32_t>(h * by_W.divisor + w);
        const int64_t i_end = rows.end(h + padding);
        const int64_t j_begin = cols.first(w + padding), j_end = cols.end(w + padding);
        float total = 0.0f;
        for (int64_t i = rows.first(h + padding); i < i_end; ++i)
            for (int64_t j = j_begin; j < j_end; ++j) {
                const int64_t at = (plane * rows.count + i) * cols.count + j;
                if (indices[at] == mine) total += g[at];
            }
        dx[k] = total;
    };
    each(gradient, in.N * in.C * in.H * in.W, stream);
}

}  // namespace mini::kernels::cuda
