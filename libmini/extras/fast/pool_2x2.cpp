// Max pooling of adjacent windows of 2 x 2, and its gradient.

#include "libmini/extras/fast/pool_2x2.hpp"

#include <algorithm>
#include <cstdint>

#include "libmini/extras/fast/vector.hpp"
#include "libmini/kernels/cpu/greatest.hpp"
#include "libmini/kernels/kernels.hpp"

namespace mini::kernels::cpu {
namespace {

using Four [[gnu::vector_size(16)]] = float;

// Stores a0 b0 a1 b1 a2 b2 ...
void store_pairs(float* to, Vector a, Vector b) {
    store(to, __builtin_shufflevector(a, b, 0, 8, 1, 9, 2, 10, 3, 11));
    store(to + kLanes, __builtin_shufflevector(a, b, 4, 12, 5, 13, 6, 14, 7, 15));
}
void store_pairs(float* to, Four a, Four b) {
    store(to, __builtin_shufflevector(a, b, 0, 4, 1, 5));
    store(to + 4, __builtin_shufflevector(a, b, 2, 6, 3, 7));
}

// Returns the vector 0, 2, 4, ...
template <typename V>
BitsOf<V> even_numbers() {
    BitsOf<V> v;
    for (int32_t lane = 0; lane < kLanesOf<V>; ++lane) v[lane] = 2 * lane;
    return v;
}

// Pools n adjacent windows of 2 x 2. `start` is the index in the plane of the first
// window's first element, `below` the length of a row.
void pool_run_2x2(float* __restrict y, int32_t* __restrict indices, const float* x,
                  int32_t start, int32_t below, int64_t n) {
    const float* lower = x + below;
    for (int64_t j = 0; j < n; ++j) {
        const int32_t index = start + static_cast<int32_t>(2 * j);
        Greatest greatest{x[2 * j], index};
        greatest.offer(x[2 * j + 1], index + 1);
        greatest.offer(lower[2 * j], index + below);
        greatest.offer(lower[2 * j + 1], index + below + 1);
        y[j] = greatest.value;
        indices[j] = greatest.index;
    }
}

// Writes both rows of the gradients of as many adjacent windows as V has lanes; `start` and
// `below` as in pool_run_2x2. Each element is its window's gradient, or 0.
template <typename V>
void spread_windows(float* upper, const float* g, const int32_t* indices, int32_t start,
                    int32_t below) {
    const V gradient = load<V>(g) + 0.0f;  // a sum that begins with 0: -0 becomes 0
    const BitsOf<V> position =             // in the window: 0, 1, below or below + 1
        load<BitsOf<V>>(indices) - even_numbers<V>() - start;
    const auto at = [&](int32_t p) { return masked(gradient, position == p); };
    store_pairs(upper, at(0), at(1));
    store_pairs(upper + below, at(below), at(below + 1));
}

// Writes both rows of the gradients of a row of Wo windows. The last vector of windows may
// overlap the one before it. REQUIRES: Wo is at least the number of lanes.
template <typename V>
void spread_row(float* upper, const float* g, const int32_t* indices, int32_t start,
                int32_t below, int64_t Wo) {
    for (int64_t column = 0; column < Wo; column += kLanesOf<V>) {
        const int64_t j = std::min(column, Wo - kLanesOf<V>);
        spread_windows<V>(upper + 2 * j, g + j, indices + j,
                          start + static_cast<int32_t>(2 * j), below);
    }
}

// The same for a row of fewer than 4 windows.
void spread_short_row(float* upper, const float* g, const int32_t* indices, int32_t start,
                      int32_t below, int64_t Wo) {
    std::fill_n(upper, 2 * Wo, 0.0f);
    std::fill_n(upper + below, 2 * Wo, 0.0f);
    for (int64_t j = 0; j < Wo; ++j) upper[indices[j] - start] = g[j] + 0.0f;
}

// A run has at most 8 windows, which the compiler computes with vectors only; for whole
// rows it would add a scalar loop with unpredictable branches. Runs take 0.9 us per image
// of 10 x 24 x 24, whole rows 6.2 us, and the core's loop 35 us.
void pool_plane(float* y, int32_t* indices, const float* x, int64_t H, int64_t W,
                Window) {
    constexpr int64_t kRun = 8;
    const int64_t Ho = H / 2, Wo = W / 2;
    for (int64_t i = 0; i < Ho; ++i)
        for (int64_t j = 0; j < Wo; j += kRun) {
            const int64_t start = 2 * i * W + 2 * j;
            pool_run_2x2(y + i * Wo + j, indices + i * Wo + j, x + start,
                         static_cast<int32_t>(start), static_cast<int32_t>(W),
                         std::min(kRun, Wo - j));
        }
}

void spread_plane(float* dx, const float* g, const int32_t* indices, int64_t H, int64_t W,
                  int64_t) {
    const int64_t Wo = W / 2;
    const auto spread = Wo >= kLanes ? spread_row<Vector>
                        : Wo >= 4    ? spread_row<Four>
                                     : spread_short_row;
    for (int64_t i = 0; i < H / 2; ++i, g += Wo, indices += Wo) {
        float* const upper = dx + 2 * i * W;
        spread(upper, g, indices, static_cast<int32_t>(2 * i * W),
               static_cast<int32_t>(W), Wo);
        if (W % 2 != 0) upper[W - 1] = upper[2 * W - 1] = 0.0f;  // in no window
    }
    if (H % 2 != 0) std::fill_n(dx + (H - 1) * W, W, 0.0f);
}

constexpr PoolKernels k2x2 = {pool_plane, spread_plane};

}  // namespace

const PoolKernels* pool_2x2(const Window& window) {
    const bool fits = window.kernel == 2 && window.stride == 2 && window.padding == 0;
    return fits ? &k2x2 : nullptr;
}

}  // namespace mini::kernels::cpu
