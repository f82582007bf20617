// The simulator's tensor core: the instructions that kernels/cuda/tensor_core.hpp names.
// How the lanes of a warp hold a matrix is specified there.

#pragma once

#include <bit>
#include <cstdint>

#include "libmini/extras/cudasim/language.hpp"

namespace mini::sim {

/// The numbers in a word of a factor: one of tf32, or two of bf16, the first in the lower
/// half.
enum class WordFormat { kTf32, kBf16 };

/// Gives each lane its words of four matrices of 8 rows. Lane l passes the four words of
/// row l % 8 of matrix l / 8, and receives in words[i] word l % 4 of row l / 4 of matrix
/// i. REQUIRES: all 32 lanes of the warp call this.
void exchange_rows(unsigned* words, const unsigned* row);

/// Adds to d (16, 8) the product of a (16 rows of 8 words) and b (8 columns of 8 words).
/// Adds in float32, in order of increasing depth; of a tf32 word only the upper 19 bits
/// are read. REQUIRES: all 32 lanes of the warp call this.
void multiply_words(WordFormat format, float* d, const unsigned* a, const unsigned* b);

/// Rounds to 10 bits of mantissa, ties away from zero, as cvt.rna.tf32.f32.
inline unsigned tf32_bits(float x) {
    const uint32_t bits = std::bit_cast<uint32_t>(x);
    const bool finite = (bits & 0x7f800000u) != 0x7f800000u;
    return finite ? (bits + 0x1000u) & 0xffffe000u : bits;
}

/// Rounds to bfloat16, to nearest, ties to even, as cvt.rn.bf16.f32.
inline unsigned bf16_bits(float x) {
    const uint32_t bits = std::bit_cast<uint32_t>(x);
    if (x != x) return 0x7fff;
    return (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
}

}  // namespace mini::sim
