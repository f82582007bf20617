// Max pooling, plane by plane: max_pool_plane, or a faster kernel that an extra registered.

#include <algorithm>
#include <cstdint>

#include "libmini/core/parallel.hpp"
#include "libmini/kernels/cpu/pool_plane.hpp"
#include "libmini/kernels/kernels.hpp"
#include "libmini/kernels/registry.hpp"

namespace mini::kernels::cpu {
namespace {

constexpr PoolKernels kAnyWindow = {max_pool_plane, max_pool_plane_backward};

// Calls body(kernels, from, to) for each plane, about 16,384 elements per chunk of work:
// `from` and `to` are its offsets in x and y, and the kernels those that an extra has
// registered for such images, or the core's.
template <typename Body>
void for_each_plane(const ImageExtents& in, const Window& window, const Body& body) {
    constexpr int64_t kGrain = 16384;
    const auto choose = faster_kernels().pool;
    const PoolKernels* const faster = choose ? choose(in, window) : nullptr;
    const int64_t outputs = window.output(in.H) * window.output(in.W);
    const int64_t planes =
        std::max<int64_t>(1, kGrain / std::max<int64_t>(1, in.H * in.W));
    parallel_for(in.N * in.C, planes, [&](int64_t begin, int64_t end) {
        for (int64_t plane = begin; plane < end; ++plane)
            body(faster ? *faster : kAnyWindow, plane * in.H * in.W, plane * outputs);
    });
}

}  // namespace

void max_pool2d(float* y, int32_t* indices, const float* x, ImageExtents in,
                Window window) {
    for_each_plane(in, window, [&](const PoolKernels& pool, int64_t from, int64_t to) {
        pool.forward(y + to, indices + to, x + from, in.H, in.W, window);
    });
}

void max_pool2d_backward(float* dx, const float* g, const int32_t* indices,
                         ImageExtents in, Window window) {
    const int64_t outputs = window.output(in.H) * window.output(in.W);
    for_each_plane(in, window, [&](const PoolKernels& pool, int64_t from, int64_t to) {
        pool.backward(dx + from, g + to, indices + to, in.H, in.W, outputs);
    });
}

}  // namespace mini::kernels::cpu
