// Max pooling, one plane of one image at a time, with any window.

#include <algorithm>
#include <cstdint>
#include <limits>

#include "libmini/core/error.hpp"
#include "libmini/core/parallel.hpp"
#include "libmini/kernels/cpu/greatest.hpp"
#include "libmini/kernels/kernels.hpp"
#include "libmini/kernels/registry.hpp"

namespace mini::kernels::cpu {
namespace {

// Returns the greatest element of rows [top, bottom) and columns [left, right) of x (H,
// W), with its index in x.
Greatest greatest_of(const float* x, int64_t W, int64_t top, int64_t bottom, int64_t left,
                     int64_t right) {
    Greatest greatest{-std::numeric_limits<float>::infinity(),
                      static_cast<int32_t>(top * W + left)};
    // [lab05.4] Offer each element, in row-major order.
    for (int64_t h = top; h < bottom; ++h)
        for (int64_t w = left; w < right; ++w)
            greatest.offer(x[h * W + w], static_cast<int32_t>(h * W + w));
    // [lab05.4]
    return greatest;
}

// Pools a plane with any window; skips the part of a window that is padding.
void pool_plane(float* y, int32_t* indices, const float* x, int64_t H, int64_t W,
                Window window) {
    const int64_t Ho = window.output(H), Wo = window.output(W);
    // [lab05.4] Find the greatest element of the part of each window inside the plane.
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
    // [lab05.4]
}

// Sets dx (H, W) to the gradient of pool_plane, which had `outputs` outputs with these
// indices.
void spread_plane(float* dx, const float* g, const int32_t* indices, int64_t H, int64_t W,
                  int64_t outputs) {
    // [lab05.4] Add each output's gradient to the element that was its maximum.
    std::fill_n(dx, H * W, 0.0f);
    for (int64_t k = 0; k < outputs; ++k) dx[indices[k]] += g[k];
    // [lab05.4]
}

// Returns the number of input planes (H, W) per chunk of work: about 16,384 elements.
int64_t planes_per_chunk(const ImageExtents& in) {
    constexpr int64_t kGrain = 16384;
    return std::max<int64_t>(1, kGrain / std::max<int64_t>(1, in.H * in.W));
}

// Returns the pooling that an extra has registered for this window, or pool_plane.
PoolPlane* chosen(const Window& window) {
    const auto choose = faster_kernels().pool;
    PoolPlane* const faster = choose ? choose(window) : nullptr;
    return faster ? faster : pool_plane;
}

}  // namespace

void max_pool2d(float* y, int32_t* indices, const float* x, ImageExtents in,
                Window window) {
    PoolPlane* const pool = chosen(window);
    const int64_t in_plane = in.H * in.W;
    const int64_t out_plane = window.output(in.H) * window.output(in.W);
    parallel_for(in.N * in.C, planes_per_chunk(in), [&](int64_t begin, int64_t end) {
        for (int64_t plane = begin; plane < end; ++plane)
            pool(y + plane * out_plane, indices + plane * out_plane, x + plane * in_plane,
                 in.H, in.W, window);
    });
}

void max_pool2d_backward(float* dx, const float* g, const int32_t* indices,
                         ImageExtents in, Window window) {
    const int64_t in_plane = in.H * in.W;
    const int64_t out_plane = window.output(in.H) * window.output(in.W);
    parallel_for(in.N * in.C, planes_per_chunk(in), [&](int64_t begin, int64_t end) {
        for (int64_t plane = begin; plane < end; ++plane)
            spread_plane(dx + plane * in_plane, g + plane * out_plane,
                         indices + plane * out_plane, in.H, in.W, out_plane);
    });
}

}  // namespace mini::kernels::cpu
