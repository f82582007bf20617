// A transposed copy of 8 x 8 elements, in registers.

#pragma once

#include <cstdint>
#include <initializer_list>

#include "libmini/extras/fast/vector.hpp"

namespace mini::kernels::cpu {

/// Transposes 8 x 8 elements: exchanges single elements between rows 1 apart, pairs
/// between rows 2 apart, and halves between rows 4 apart.
inline void transpose_block(float* out, int64_t out_step, const float* x,
                            int64_t x_step) {
    Vector r[kLanes], s[kLanes];
#pragma GCC unroll 8
    for (int i = 0; i < kLanes; ++i) r[i] = load(x + i * x_step);
#pragma GCC unroll 8
    for (int i = 0; i < kLanes; i += 2) {
        s[i] = __builtin_shufflevector(r[i], r[i + 1], 0, 8, 2, 10, 4, 12, 6, 14);
        s[i + 1] = __builtin_shufflevector(r[i], r[i + 1], 1, 9, 3, 11, 5, 13, 7, 15);
    }
#pragma GCC unroll 8
    for (const int i : {0, 1, 4, 5}) {
        r[i] = __builtin_shufflevector(s[i], s[i + 2], 0, 1, 8, 9, 4, 5, 12, 13);
        r[i + 2] = __builtin_shufflevector(s[i], s[i + 2], 2, 3, 10, 11, 6, 7, 14, 15);
    }
#pragma GCC unroll 8
    for (int i = 0; i < 4; ++i) {
        s[i] = __builtin_shufflevector(r[i], r[i + 4], 0, 1, 2, 3, 8, 9, 10, 11);
        s[i + 4] = __builtin_shufflevector(r[i], r[i + 4], 4, 5, 6, 7, 12, 13, 14, 15);
    }
#pragma GCC unroll 8
    for (int i = 0; i < kLanes; ++i) store(out + i * out_step, s[i]);
}

}  // namespace mini::kernels::cpu
