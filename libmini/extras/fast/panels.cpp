// The product of panels, with sums in registers.
//
//                        b  16 columns
//                           [ vector ][ vector ]    a step reads 2 vectors of b and 6
//         a  6 rows      c                          elements of a, and adds 12 vectors of
//            [.]            [  sum   ][  sum   ]    products to the sums: a multiply-add
//            [.]            [  sum   ][  sum   ]    takes 4 or 5 cycles, and two start per
//            ...            ...                     cycle, so at least 10 sums are needed
//            [.]            [  sum   ][  sum   ]
//
// 12 sums, 2 vectors of b and 1 element of a are 15 of the 16 vector registers of AVX2;
// with AVX-512 the vectors have 16 floats. A panel of b stays in the first-level cache.
//
// Goto and van de Geijn 2008, "Anatomy of high-performance matrix multiplication".

#include "libmini/extras/fast/panels.hpp"

#include <cstdint>

#include "libmini/extras/fast/vector.hpp"

namespace mini::kernels::cpu {
namespace {

constexpr int64_t kVectors = kPanelColumns / kWideLanes;

// Computes a tile of c, 6 x 16 elements, whose rows are `step` apart.
template <bool kAccumulate>
void multiply_tile(float* c, int64_t step, const float* a, const float* b,
                   int64_t depth) {
    WideVector sums[kPanelRows][kVectors] = {};
    for (int64_t k = 0; k < depth; ++k, a += kPanelRows, b += kPanelColumns) {
        const auto left = load<WideVector>(b), right = load<WideVector>(b + kWideLanes);
#pragma GCC unroll 6
        for (int64_t r = 0; r < kPanelRows; ++r) {
            const auto factor = broadcast<WideVector>(a[r]);
            sums[r][0] += factor * left;
            sums[r][1] += factor * right;
        }
    }
#pragma GCC unroll 6
    for (int64_t r = 0; r < kPanelRows; ++r, c += step)
#pragma GCC unroll 2
        for (int64_t v = 0; v < kVectors; ++v) {
            float* const to = c + v * kWideLanes;
            if (kAccumulate) sums[r][v] += load<WideVector>(to);
            store(to, sums[r][v]);
        }
}

}  // namespace

void multiply_panels(float* c, const float* a, const float* b,
                     const PanelProduct& product) {
    const auto tile = product.accumulate ? multiply_tile<true> : multiply_tile<false>;
    for (int64_t j = 0; j < product.columns; j += kPanelColumns, b += product.b_step)
        for (int64_t i = 0; i < product.rows; i += kPanelRows)
            tile(c + i * product.columns + j, product.columns, a + i * product.depth, b,
                 product.depth);
}

}  // namespace mini::kernels::cpu
