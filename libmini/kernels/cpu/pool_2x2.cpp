// Max pooling of adjacent windows of 2 x 2, and its gradient.

#include "libmini/kernels/cpu/pool_2x2.hpp"

#include <algorithm>
#include <cstdint>

#include "libmini/kernels/cpu/greatest.hpp"
#include "libmini/kernels/cpu/vector.hpp"

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

// The same for one window, where a row has fewer than 4.
void spread_window(float* upper, float g, int32_t index, int32_t start, int32_t below) {
    upper[0] = upper[1] = upper[below] = upper[below + 1] = 0.0f;
    upper[index - start] = g + 0.0f;
}

// Calls visit(j) for the first window of each vector of `lanes` windows of a row of Wo. The
// last vector may overlap the one before it. REQUIRES: Wo >= lanes.
template <typename Visit>
void for_each_vector(int64_t lanes, int64_t Wo, const Visit& visit) {
    for (int64_t j = 0; j < Wo; j += lanes) visit(std::min(j, Wo - lanes));
}

}  // namespace

// A run has at most 8 windows, which the compiler computes with vectors only; for whole
// rows it would add a scalar loop with unpredictable branches. Runs take 0.9 us per image
// of 10 x 24 x 24, whole rows 6.2 us, and pool_plane 35 us.
void pool_plane_2x2(float* y, int32_t* indices, const float* x, int64_t H, int64_t W) {
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

void spread_plane_2x2(float* dx, const float* g, const int32_t* indices, int64_t H,
                      int64_t W) {
    const int64_t Wo = W / 2;
    const auto below = static_cast<int32_t>(W);
    for (int64_t i = 0; i < H / 2; ++i, g += Wo, indices += Wo) {
        const auto start = [&](int64_t j) {
            return static_cast<int32_t>(2 * i * W + 2 * j);
        };
        if (Wo >= kLanes)
            for_each_vector(kLanes, Wo, [&](int64_t j) {
                spread_windows<Vector>(dx + start(j), g + j, indices + j, start(j),
                                       below);
            });
        else if (Wo >= 4)
            for_each_vector(4, Wo, [&](int64_t j) {
                spread_windows<Four>(dx + start(j), g + j, indices + j, start(j), below);
            });
        else
            for (int64_t j = 0; j < Wo; ++j)
                spread_window(dx + start(j), g[j], indices[j], start(j), below);
        float* const upper = dx + 2 * i * W;
        if (W % 2 != 0) upper[W - 1] = upper[2 * W - 1] = 0.0f;  // in no window
    }
    if (H % 2 != 0) std::fill_n(dx + (H - 1) * W, W, 0.0f);
}

}  // namespace mini::kernels::cpu
