// The simulator's tensor core: the arithmetic of mma_sync (include/mma.h).

#pragma once

namespace mini::sim {

struct MatrixExtents {
    int m, n, k;
};

/// Computes d = a b + c, with a (m, k), b (k, n), c and d (m, n). Each lane passes its
/// own elements: lane l has the elements l, l + 32, ... in row-major order. Adds in
/// float32, in order of increasing k. REQUIRES: all 32 lanes of the warp call this.
void warp_multiply(float* d, const float* a, const float* b, const float* c,
                   MatrixExtents extents);

}  // namespace mini::sim
