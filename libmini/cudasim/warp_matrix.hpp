// A tensor core of the simulator: what mma_sync (include/mma.h) does with numbers.

#pragma once

namespace mini::sim {

struct MatrixExtents {
    int m, n, k;
};

/// d = a b + c, called by all 32 lanes of a warp, each with its share of the elements:
/// lane l has those numbered l, l + 32, ... along the rows. Sums go up along k, in
/// float32.
void warp_multiply(float* d, const float* a, const float* b, const float* c,
                   MatrixExtents extents);

}  // namespace mini::sim
