#include "libmini/kernels/cpu/pool_plane.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>

#include "libmini/core/error.hpp"

// [lab05 file]
namespace mini::kernels::cpu {
namespace {

// Returns the greatest element of rows [top, bottom) and columns [left, right) of x (H,
// W), with its index in x.
Greatest greatest_of(const float* x, int64_t W, int64_t top, int64_t bottom, int64_t left,
                     int64_t right) {
    Greatest greatest{-std::numeric_limits<float>::infinity(),
                      static_cast<int32_t>(top * W + left)};
    // [lab05.3] Offer each element, in row-major order.
    for (int64_t h = top; h < bottom; ++h)
        for (int64_t w = left; w < right; ++w)
            greatest.offer(x[h * W + w], static_cast<int32_t>(h * W + w));
    // [lab05.3]
    return greatest;
}

}  // namespace

void max_pool_plane(float* y, int32_t* indices, const float* x, int64_t H, int64_t W,
                    Window window) {
    const int64_t Ho = window.output(H), Wo = window.output(W);
    // [lab05.3] Find the greatest element of the part of each window inside the plane.
    for (int64_t i = 0; i < Ho; ++i)
        for (int64_t j = 0; j < Wo; ++j) {
            const int64_t h = i * window.stride - window.padding;
            const int64_t w = j * window.stride - window.padding;
            const auto [value, index] =
                greatest_of(x, W, std::max<int64_t>(h, 0), std::min(h + window.kernel, H),
                            std::max<int64_t>(w, 0), std::min(w + window.kernel, W));
            y[i * Wo + j] = value;
            indices[i * Wo + j] = index;
        }
    // [lab05.3]
}

void max_pool_plane_backward(float* dx, const float* g, const int32_t* indices, int64_t H,
                             int64_t W, int64_t outputs) {
    // [lab05.3] Add each output's gradient to the element that was its maximum.
    std::fill_n(dx, H * W, 0.0f);
    for (int64_t k = 0; k < outputs; ++k) dx[indices[k]] += g[k];
    // [lab05.3]
}

}  // namespace mini::kernels::cpu
// [lab05 file]
