// Warp matrix functions on the simulator: nvcuda::wmma for the formats tf32 and bf16.
//
// A fragment is a tile spread over the 32 lanes of a warp. CUDA does not specify the
// layout; here lane l holds the elements l, l + 32, l + 64, ... in row-major order.

#pragma once

#include <cuda_bf16.h>

#include <bit>
#include <type_traits>

#include "libmini/cudasim/language.hpp"
#include "libmini/cudasim/warp_matrix.hpp"

namespace nvcuda::wmma {

struct matrix_a;
struct matrix_b;
struct accumulator;
struct row_major;
struct col_major;
enum layout_t { mem_row_major, mem_col_major };

namespace precision {
struct tf32;
}

template <typename T>
struct storage {
    using type = T;
};
template <>
struct storage<precision::tf32> {
    using type = float;
};

/// One lane's elements of a tile. Tile shapes: a (m, k), b (k, n), accumulator (m, n).
template <typename Use, int m, int n, int k, typename T, typename Layout = void>
struct fragment {
    static constexpr int kRows = std::is_same_v<Use, matrix_b> ? k : m;
    static constexpr int kCols = std::is_same_v<Use, matrix_a> ? k : n;
    static constexpr int num_elements = kRows * kCols / 32;
    typename storage<T>::type x[num_elements];
};

/// Rounds to 10 bits of mantissa, ties away from zero, like cvt.rna.tf32.f32.
inline float __float_to_tf32(float x) {
    const uint32_t bits = std::bit_cast<uint32_t>(x);
    const bool finite = (bits & 0x7f800000u) != 0x7f800000u;
    return finite ? std::bit_cast<float>((bits + 0x1000u) & 0xffffe000u) : x;
}

template <typename Fragment, typename T>
void fill_fragment(Fragment& fragment, T value) {
    for (auto& element : fragment.x) element = value;
}

/// Loads a tile. `pitch` is the distance in elements between rows, or columns if Layout
/// is col_major. REQUIRES: `from` is aligned to 32 bytes, rows are a multiple of 16 bytes
/// apart; the same for store_matrix_sync().
template <typename Use, int m, int n, int k, typename T, typename Layout, typename Stored>
__attribute__((always_inline)) inline void load_matrix_sync(
    fragment<Use, m, n, k, T, Layout>& tile, const Stored* from, unsigned pitch) {
    using Tile = fragment<Use, m, n, k, T, Layout>;
    mini::sim::note_matrix(from, pitch * sizeof(Stored));
    for (int i = 0; i < Tile::num_elements; ++i) {
        const int element = mini::sim::lane() + 32 * i;
        const int row = element / Tile::kCols, col = element % Tile::kCols;
        const bool by_rows = std::is_same_v<Layout, row_major>;
        tile.x[i] = from[by_rows ? row * pitch + col : col * pitch + row];
    }
    __syncwarp();
}

template <int m, int n, int k, typename T>
__attribute__((always_inline)) inline void store_matrix_sync(
    T* to, const fragment<accumulator, m, n, k, T>& tile, unsigned pitch,
    layout_t layout) {
    mini::sim::note_matrix(to, pitch * sizeof(T));
    for (int i = 0; i < tile.num_elements; ++i) {
        const int element = mini::sim::lane() + 32 * i;
        const int row = element / n, col = element % n;
        to[layout == mem_row_major ? row * pitch + col : col * pitch + row] = tile.x[i];
    }
    __syncwarp();
}

// Returns an element as a tensor core reads it: the mantissa of tf32 truncated to 10
// bits, bf16 unchanged.
inline float seen(float x) {
    return std::bit_cast<float>(std::bit_cast<uint32_t>(x) & 0xffffe000u);
}
inline float seen(__nv_bfloat16 x) { return __bfloat162float(x); }

/// Computes d = a b + c in float32.
template <int m, int n, int k, typename T, typename LayoutA, typename LayoutB>
void mma_sync(fragment<accumulator, m, n, k, float>& d,
              const fragment<matrix_a, m, n, k, T, LayoutA>& a,
              const fragment<matrix_b, m, n, k, T, LayoutB>& b,
              const fragment<accumulator, m, n, k, float>& c) {
    float a_seen[a.num_elements], b_seen[b.num_elements];
    for (int i = 0; i < a.num_elements; ++i) a_seen[i] = seen(a.x[i]);
    for (int i = 0; i < b.num_elements; ++i) b_seen[i] = seen(b.x[i]);
    mini::sim::warp_multiply(d.x, a_seen, b_seen, c.x, {.m = m, .n = n, .k = k});
}

}  // namespace nvcuda::wmma
