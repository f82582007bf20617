// wmma: products of small matrices by a warp. Lane i has the i-th part of the elements of a
// fragment, row after row; CUDA leaves open which.

#pragma once

#include "cuda_fp16.h"

namespace nvcuda::wmma {

struct matrix_a {};
struct matrix_b {};
struct accumulator {};
struct row_major {};
struct col_major {};
enum layout_t { mem_row_major, mem_col_major };

template <typename Use, int M, int N, int K, typename T, typename Layout = void>
struct fragment {
    static constexpr int rows = std::is_same_v<Use, matrix_b> ? K : M;
    static constexpr int columns = std::is_same_v<Use, matrix_a> ? K : N;
    static constexpr int num_elements = rows * columns / 32;

    T x[num_elements];

    MINI_WORD static int number(int i) { return mini::sim::lane() * num_elements + i; }
    // Returns where element i lies in memory whose rows, or columns, are `stride` apart.
    MINI_WORD static unsigned place(int i, unsigned stride, layout_t layout) {
        const auto row = static_cast<unsigned>(number(i) / columns);
        const auto column = static_cast<unsigned>(number(i) % columns);
        return layout == mem_row_major ? row * stride + column : column * stride + row;
    }
};
template <int M, int N, int K, typename T>
using Accumulator = fragment<accumulator, M, N, K, T>;

template <typename Fragment, typename T>
MINI_WORD void fill_fragment(Fragment& fragment, T value) {
    for (auto& each : fragment.x) each = value;
}
template <typename Use, int M, int N, int K, typename T, typename Layout>
MINI_WORD void load_matrix_sync(fragment<Use, M, N, K, T, Layout>& to, const auto* from,
                                unsigned stride,
                                layout_t layout = std::is_same_v<Layout, col_major>
                                                      ? mem_col_major
                                                      : mem_row_major) {
    for (int i = 0; i < to.num_elements; ++i) to.x[i] = from[to.place(i, stride, layout)];
    __syncwarp();
}
template <int M, int N, int K, typename T>
MINI_WORD void store_matrix_sync(T* to, const Accumulator<M, N, K, T>& from,
                                 unsigned stride, layout_t layout) {
    for (int i = 0; i < from.num_elements; ++i)
        to[from.place(i, stride, layout)] = from.x[i];
    __syncwarp();
}

// The factors of each warp of the running block.
inline thread_local double left[32][512], right[32][512];

// The factors are no memory of the program.
template <int M, int N, int K, typename T, typename A, typename B, typename U>
MINI_UNCHECKED void mma_sync(
    Accumulator<M, N, K, T>& to, const A& a, const B& b,
    const Accumulator<M, N, K, U>& c) {
    const unsigned warp = mini::sim::running().thread / 32;
    for (int i = 0; i < a.num_elements; ++i)
        left[warp][a.number(i)] = static_cast<double>(a.x[i]);
    for (int i = 0; i < b.num_elements; ++i)
        right[warp][b.number(i)] = static_cast<double>(b.x[i]);
    __syncwarp();
    for (int i = 0; i < to.num_elements; ++i) {
        const int row = to.number(i) / N, column = to.number(i) % N;
        auto sum = static_cast<double>(c.x[i]);
        for (int j = 0; j < K; ++j)
            sum += left[warp][row * K + j] * right[warp][j * N + column];
        to.x[i] = static_cast<T>(sum);
    }
    __syncwarp();
}

}  // namespace nvcuda::wmma
