// Max pooling, plane by plane: max_pool_plane, or a faster kernel that an extra registered.

#include <algorithm>
#include <cstdint>

#include "libmini/core/parallel.hpp"
#include "libmini/kernels/cpu/pool_plane.hpp"
#include "libmini/kernels/kernels.hpp"
#include "libmini/kernels/registry.hpp"

namespace mini::kernels::cpu {
namespace {

// Calls body(plane) for each input plane, about 16,384 elements per chunk of work.
template <typename Body>
void for_each_plane(const ImageExtents& in, const Body& body) {
    constexpr int64_t kGrain = 16384;
    const int64_t planes =
        std::max<int64_t>(1, kGrain / std::max<int64_t>(1, in.H * in.W));
    parallel_for(in.N * in.C, planes, [&](int64_t begin, int64_t end) {
        for (int64_t plane = begin; plane < end; ++plane) body(plane);
    });
}

// Returns the pooling that an extra has registered for this window, or max_pool_plane.
PoolPlane* chosen(const Window& window) {
    const auto choose = faster_kernels().pool;
    PoolPlane* const faster = choose ? choose(window) : nullptr;
    return faster ? faster : max_pool_plane;
}

}  // namespace

void max_pool2d(float* y, int32_t* indices, const float* x, ImageExtents in,
                Window window) {
    PoolPlane* const pool = chosen(window);
    const int64_t outputs = window.output(in.H) * window.output(in.W);
    for_each_plane(in, [&](int64_t plane) {
        pool(y + plane * outputs, indices + plane * outputs, x + plane * in.H * in.W,
             in.H, in.W, window);
    });
}

void max_pool2d_backward(float* dx, const float* g, const int32_t* indices,
                         ImageExtents in, Window window) {
    const int64_t outputs = window.output(in.H) * window.output(in.W);
    for_each_plane(in, [&](int64_t plane) {
        max_pool_plane_backward(dx + plane * in.H * in.W, g + plane * outputs,
                                indices + plane * outputs, in.H, in.W, outputs);
    });
}

}  // namespace mini::kernels::cpu
