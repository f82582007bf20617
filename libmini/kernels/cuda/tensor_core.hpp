// The instructions of tensor cores that matmul_tensor.cu uses, as functions: PTX for a
// GPU, <warp_matrix.h> for the simulator. From compute capability 8.0 on.
// Included only by .cu files.
//
// All 32 lanes of a warp execute an instruction together, and each lane holds a part of
// every matrix. The factors consist of 32-bit words: one tf32, or two bf16. A product has
// 8 words of depth. Lane 4 g + t holds, for i and j = 0, 1:
//
//     matrix                       in the lane's register
//     a (16 rows, 8 words)         a[i + 2 j]   word t + 4 j of row g + 8 i
//     b (8 columns, 8 words)       b[j]         word t + 4 j of column g
//     d (16 rows, 8 columns)       d[2 i + j]   row g + 8 i, column 2 t + j, in float32
//
// (PTX ISA, "Warp-level matrix instructions": mma.m16n8k8 of tf32, mma.m16n8k16 of bf16,
// ldmatrix.)

#pragma once

#if defined(__CUDACC__)

#include <cuda_runtime.h>

namespace mini::kernels::cuda {

/// Loads four matrices of 8 rows of 4 words from shared memory. Lane l passes the address
/// of row l % 8 of matrix l / 8, aligned to 16 bytes, and receives in words[i] word l % 4
/// of row l / 4 of matrix i.
__device__ inline void load_matrices(unsigned (&words)[4], const void* row) {
    const auto address = static_cast<unsigned>(__cvta_generic_to_shared(row));
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(words[0]), "=r"(words[1]), "=r"(words[2]), "=r"(words[3])
                 : "r"(address)
                 : "memory");
}

/// Computes d += a b for words of tf32.
__device__ inline void multiply_tf32(float (&d)[4], const unsigned (&a)[4],
                                     const unsigned (&b)[2]) {
    asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 "
        "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

/// Computes d += a b for words of two bf16.
__device__ inline void multiply_bf16(float (&d)[4], const unsigned (&a)[4],
                                     const unsigned (&b)[2]) {
    asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
        "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

/// Rounds to the nearest tf32, ties away from zero.
__device__ inline unsigned tf32_word(float x) {
    unsigned word;
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(word) : "f"(x));
    return word;
}

/// Rounds two numbers to the nearest bf16, ties to even; `low` is the first one.
__device__ inline unsigned bf16_word(float low, float high) {
    unsigned word;
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(word) : "f"(high), "f"(low));
    return word;
}

}  // namespace mini::kernels::cuda

#else

#include <warp_matrix.h>

namespace mini::kernels::cuda {

// Each lane loads its row in one access, so that the checker sees what a GPU does: four
// times 8 rows of 16 bytes. Always inlined, so that the checker's reports name the kernel's
// line.
__attribute__((always_inline)) inline void load_matrices(unsigned (&words)[4],
                                                         const void* row) {
    const uint4 loaded = *static_cast<const uint4*>(row);
    sim::exchange_rows(words, &loaded.x);
}

inline void multiply_tf32(float (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
    sim::multiply_words(sim::WordFormat::kTf32, d, a, b);
}

inline void multiply_bf16(float (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
    sim::multiply_words(sim::WordFormat::kBf16, d, a, b);
}

inline unsigned tf32_word(float x) { return sim::tf32_bits(x); }

inline unsigned bf16_word(float low, float high) {
    return sim::bf16_bits(low) | sim::bf16_bits(high) << 16;
}

}  // namespace mini::kernels::cuda

#endif
