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
namespace {

using mini::cuda::launch;

// Planes of H x W elements pooled to Ho x Wo.
struct Pooling {
    int64_t H, W, Ho, Wo;
    int kernel, stride, padding;
    Divider by_W, by_Wo, by_H, by_Ho;

    Pooling(const ImageExtents& in, const Window& window)
        : H(in.H),
          W(in.W),
          Ho(window.output(in.H)),
          Wo(window.output(in.W)),
          kernel(static_cast<int>(window.kernel)),
          stride(static_cast<int>(window.stride)),
          padding(static_cast<int>(window.padding)),
          by_W(W),
          by_Wo(Wo),
          by_H(H),
          by_Ho(Ho) {}
};

// The position of element k of planes (planes, rows, cols).
struct Place {
    int64_t plane, row, col;
};
__device__ Place place_of(int64_t k, const Divider& cols, const Divider& rows) {
    const auto [line, col] = cols.divide(k);
    const auto [plane, row] = rows.divide(line);
    return {plane, row, col};
}

__global__ void max_pool_kernel(float* y,          // (planes, Ho, Wo)
                                int32_t* indices,  // (planes, Ho, Wo)
                                const float* x,    // (planes, H, W)
                                Pooling pooling, int64_t n) {
    for (int64_t k = thread_number(); k < n; k += thread_count()) {
        const auto [plane, i, j] = place_of(k, pooling.by_Wo, pooling.by_Ho);
        const int64_t h = i * pooling.stride - pooling.padding,
                      w = j * pooling.stride - pooling.padding;
        const int64_t top = max(h, int64_t{0}),
                      bottom = min(h + pooling.kernel, pooling.H);
        const int64_t left = max(w, int64_t{0}),
                      right = min(w + pooling.kernel, pooling.W);

        // Keep the greatest element so far; only a greater element, or NaN, replaces it.
        const float* from = x + plane * pooling.H * pooling.W;
        float greatest = -INFINITY;
        int64_t place = top * pooling.W + left;
        for (int64_t row = top; row < bottom; ++row)
            for (int64_t col = left; col < right; ++col) {
                const float value = from[row * pooling.W + col];
                if (value > greatest || value != value) {
                    greatest = value;
                    place = row * pooling.W + col;
                }
            }
        y[k] = greatest;
        indices[k] = static_cast<int32_t>(place);
    }
}

// Returns the first window that contains a position in the padded image.
__device__ int64_t first_window(int64_t place, int kernel, int stride) {
    return place < kernel ? 0 : (place - kernel) / stride + 1;
}

// Returns the end of the range of windows that contain a position in the padded image.
__device__ int64_t end_window(int64_t place, int stride, int64_t windows) {
    return min(place / stride + 1, windows);
}

__global__ void max_pool_backward_kernel(float* dx,               // (planes, H, W)
                                         const float* g,          // (planes, Ho, Wo)
                                         const int32_t* indices,  // (planes, Ho, Wo)
                                         Pooling pooling, int64_t n) {
    for (int64_t k = thread_number(); k < n; k += thread_count()) {
        const auto [plane, h, w] = place_of(k, pooling.by_W, pooling.by_H);
        const auto mine = static_cast<int32_t>(h * pooling.W + w);
        const int64_t row = h + pooling.padding, col = w + pooling.padding;
        const int64_t i_end = end_window(row, pooling.stride, pooling.Ho);
        const int64_t j_begin = first_window(col, pooling.kernel, pooling.stride);
        const int64_t j_end = end_window(col, pooling.stride, pooling.Wo);

        float total = 0.0f;
        for (int64_t i = first_window(row, pooling.kernel, pooling.stride); i < i_end;
             ++i)
            for (int64_t j = j_begin; j < j_end; ++j) {
                const int64_t window = (plane * pooling.Ho + i) * pooling.Wo + j;
                if (indices[window] == mine) total += g[window];
            }
        dx[k] = total;
    }
}

}  // namespace

void max_pool2d(float* y, int32_t* indices, const float* x, ImageExtents in,
                Window window, cudaStream_t stream) {
    const int64_t n = in.N * in.C * window.output(in.H) * window.output(in.W);
    launch(max_pool_kernel, grid_for(n), stream, y, indices, x, Pooling(in, window), n);
}

void max_pool2d_backward(float* dx, const float* g, const int32_t* indices,
                         ImageExtents in, Window window, cudaStream_t stream) {
    const int64_t n = in.N * in.C * in.H * in.W;
    launch(max_pool_backward_kernel, grid_for(n), stream, dx, g, indices,
           Pooling(in, window), n);
}

}  // namespace mini::kernels::cuda
