// Max pooling of adjacent windows of 2 x 2, 8 windows at a time: 4 neighbours in a row, and
// the 4 windows after them, in the same row or the next.

#include "libmini/extras/fast/pool_2x2.hpp"

#include <cmath>
#include <cstdint>

#include "libmini/extras/fast/vector.hpp"
#include "libmini/kernels/cpu/pool_plane.hpp"

namespace mini::kernels::cpu {
namespace {

using Indices = BitsOf<Vector>;
using GreatestOf8 = GreatestOf<Vector, Indices>;  // the greatest elements of 8 windows

// Calls visit(k, first, second) for the windows k to k + 7, in row-major order: `first` is
// the index of the first element of window k in the plane, `second` that of window k + 4.
template <typename Visit>
void for_each_8_windows(int64_t H, int64_t W, const Visit& visit) {
    int64_t row = 0, column = 0;
    const auto next = [&] {
        const int64_t now = row + column;
        column += 8;
        if (column == W) row += 2 * W, column = 0;
        return now;
    };
    for (int64_t k = 0; k < H * W / 4; k += 8) {
        const int64_t first = next();
        visit(k, first, next());
    }
}

// The indices of the first elements of 8 windows.
Indices starts(int64_t first, int64_t second) {
    const auto a = static_cast<int32_t>(first), b = static_cast<int32_t>(second);
    return Indices{a, a, a, a, b, b, b, b} + Indices{0, 2, 4, 6, 0, 2, 4, 6};
}

void pool_plane(float* y, int32_t* indices, const float* x, int64_t H, int64_t W,
                Window) {
    for_each_8_windows(H, W, [&](int64_t k, int64_t first, int64_t second) {
        const Indices start = starts(first, second);
        const auto offer_row = [&](GreatestOf8& greatest, const float* row, Indices at) {
            const auto a = load<Vector>(row + first), b = load<Vector>(row + second);
            greatest.offer(__builtin_shufflevector(a, b, 0, 2, 4, 6, 8, 10, 12, 14), at);
            greatest.offer(__builtin_shufflevector(a, b, 1, 3, 5, 7, 9, 11, 13, 15),
                           at + 1);
        };
        GreatestOf8 greatest{broadcast(-INFINITY), start};
        offer_row(greatest, x, start);
        offer_row(greatest, x + W, start + static_cast<int32_t>(W));
        store(y + k, greatest.value);
        store(indices + k, greatest.index);
    });
}

void pool_plane_backward(float* dx, const float* g, const int32_t* indices, int64_t H,
                         int64_t W, int64_t) {
    for_each_8_windows(H, W, [&](int64_t k, int64_t first, int64_t second) {
        const Vector grads = load<Vector>(g + k) + Vector{};  // the sum 0 + -0 is 0
        const Indices at = load<Indices>(indices + k) - starts(first, second);
        const auto set_row = [&](float* row, int32_t left) {
            const Vector even = masked(grads, at == left);
            const Vector odd = masked(grads, at == left + 1);
            store(row + first,
                  __builtin_shufflevector(even, odd, 0, 8, 1, 9, 2, 10, 3, 11));
            store(row + second,
                  __builtin_shufflevector(even, odd, 4, 12, 5, 13, 6, 14, 7, 15));
        };
        set_row(dx, 0);
        set_row(dx + W, static_cast<int32_t>(W));
    });
}

constexpr PoolKernels k2x2 = {pool_plane, pool_plane_backward};

}  // namespace

const PoolKernels* pool_2x2(const ImageExtents& in, const Window& window) {
    const bool fits = window.kernel == 2 && window.stride == 2 && window.padding == 0 &&
                      in.H % 2 == 0 && in.W % 8 == 0 && in.H * in.W % 32 == 0;
    return fits ? &k2x2 : nullptr;
}

}  // namespace mini::kernels::cpu
