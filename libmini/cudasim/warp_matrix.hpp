// The simulator's tensor core: the arithmetic of mma_sync (include/mma.h).

#pragma once

namespace mini::sim {

struct MatrixExtents {
    int m, n, k;
};

/// Computes d = a b + c. Called by all 32 lanes of a warp, each with its elements: lane l
/// holds the elements l, l + 32, ... in row-major order. Sums run in order of increasing
/// k, in float32.
void warp_multiply(float* d, const float* a, const float* b, const float* c,
                   MatrixExtents extents);

}  // namespace mini::sim
