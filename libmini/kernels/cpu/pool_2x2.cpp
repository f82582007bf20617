// Max pooling of adjacent windows of 2 x 2, and its gradient.

#include "libmini/kernels/cpu/pool_2x2.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "libmini/kernels/cpu/greatest.hpp"

namespace mini::kernels::cpu {
namespace {

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

using Four [[gnu::vector_size(16)]] = float;
using FourPositions [[gnu::vector_size(16)]] = int32_t;

// Stores a0 b0 a1 b1 a2 b2 a3 b3.
void store_pairs(float* to, Four a, Four b) {
    const Four low = __builtin_shufflevector(a, b, 0, 4, 1, 5);
    const Four high = __builtin_shufflevector(a, b, 2, 6, 3, 7);
    std::memcpy(to, &low, sizeof low);
    std::memcpy(to + 4, &high, sizeof high);
}

// Writes both rows of the gradients of n adjacent windows of 2 x 2; `start` and `below`
// as in pool_run_2x2. Each element is written once: its window's gradient, or 0.
void spread_run_2x2(float* upper, const float* g, const int32_t* indices, int32_t start,
                    int32_t below, int64_t n) {
    float* const lower = upper + below;
    int64_t j = 0;
    for (; j + 4 <= n; j += 4) {
        Four gradient;
        FourPositions position;  // in the window: 0, 1, below or below + 1
        std::memcpy(&gradient, g + j, sizeof gradient);
        std::memcpy(&position, indices + j, sizeof position);
        gradient += 0.0f;  // a sum that begins with 0: -0 becomes 0
        position -= FourPositions{0, 2, 4, 6} + (start + static_cast<int32_t>(2 * j));
        const auto at = [&](int32_t p) {
            return (Four)((FourPositions)gradient & (position == p));
        };
        store_pairs(upper + 2 * j, at(0), at(1));
        store_pairs(lower + 2 * j, at(below), at(below + 1));
    }
    for (; j < n; ++j) {
        const float gradient = g[j] + 0.0f;
        const int32_t position = indices[j] - start - static_cast<int32_t>(2 * j);
        upper[2 * j] = position == 0 ? gradient : 0.0f;
        upper[2 * j + 1] = position == 1 ? gradient : 0.0f;
        lower[2 * j] = position == below ? gradient : 0.0f;
        lower[2 * j + 1] = position == below + 1 ? gradient : 0.0f;
    }
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

// 19 us for 320 planes of 24 x 24, where zeros and then one sum per window take 43 us.
void spread_plane_2x2(float* dx, const float* g, const int32_t* indices, int64_t H,
                      int64_t W) {
    const int64_t Ho = H / 2, Wo = W / 2;
    for (int64_t i = 0; i < Ho; ++i) {
        float* const upper = dx + 2 * i * W;
        spread_run_2x2(upper, g + i * Wo, indices + i * Wo,
                       static_cast<int32_t>(2 * i * W), static_cast<int32_t>(W), Wo);
        if (W % 2 != 0) upper[W - 1] = upper[2 * W - 1] = 0.0f;  // in no window
    }
    if (H % 2 != 0) std::fill_n(dx + (H - 1) * W, W, 0.0f);
}

}  // namespace mini::kernels::cpu
