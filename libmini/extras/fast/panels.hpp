// The product of two matrices that lie in panels: the inner loops of conv_product.cpp.
//
//     a, panels of 6 rows        (depth, 6): the elements of a column are neighbours
//     b, panels of 16 columns    (depth, 16): the elements of a row are neighbours
//
// With AVX-512 a panel of b has 32 columns, so that a row is two registers there, too.
//
// Callers copy a part of each matrix into panels and use this copy several times. So the
// inner loop reads memory in order, and has no special case for the edges of a matrix:
// the last panel is computed as a whole.

#pragma once

#include <cstdint>

#include "libmini/extras/fast/vector.hpp"

namespace mini::kernels::cpu {

/// Rows of a panel of a, and columns of a panel of b.
constexpr int64_t kPanelRows = 6, kPanelColumns = 2 * kWideLanes;

/// Returns extent, rounded up to whole panels of `size`.
constexpr int64_t in_panels(int64_t extent, int64_t size) {
    return (extent + size - 1) / size * size;
}

struct PanelProduct {
    int64_t rows, columns, depth;  // rows and columns in whole panels
    int64_t b_step;                // from one panel of b to the next
    bool accumulate;               // c += a b instead of c = a b
};

/// c (rows, columns) = a b. Each element is a sum in the order of depth.
void multiply_panels(float* c, const float* a, const float* b,
                     const PanelProduct& product);

}  // namespace mini::kernels::cpu
