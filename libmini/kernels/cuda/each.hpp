// Elementwise loops: one kernel that computes a function of each element of contiguous
// arrays (map), and one that runs a body for each index (each).
//
//     index      0  1  2  3 | 4  5  6  7 | 8  9 10 11 | 12 13
//     thread     0          | 1          | 2          | 0  1
//
// In a map, a thread takes kPackWidth adjacent elements at a time, so that one access
// moves 16 bytes of floats and adjacent threads access adjacent bytes; then it advances by
// the size of the grid. The remainder is processed one element at a time. If an array is
// misaligned, all elements are processed one at a time.
//
// Included only by .cu files.

#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <tuple>

#include "libmini/kernels/cuda/launch.hpp"

namespace mini::kernels::cuda {

constexpr int kThreads = 256;

// Enough blocks to fill the largest GPU several times; for more work, threads loop.
constexpr int64_t kMaxBlocks = 16384;

/// kWidth adjacent elements, loaded and stored by one access.
template <typename T, int kWidth>
struct alignas(sizeof(T) * kWidth) Pack {
    T at[kWidth];
};

// The type of kBytes bytes, 1, 2, 4 ... 32. If a pack is copied as a Word, the compiler and
// the simulator's checker see one access of up to 16 bytes.
struct TwoAccesses {
    uint4 first, second;
};
template <size_t kBytes>
using Word = std::tuple_element_t<
    std::countr_zero(kBytes),
    std::tuple<unsigned char, unsigned short, unsigned, float2, uint4, TwoAccesses>>;

template <int kWidth, typename T>
__device__ Pack<T, kWidth> load(const T* from) {
    const auto word = *reinterpret_cast<const Word<sizeof(T) * kWidth>*>(from);
    Pack<T, kWidth> values;
    memcpy(static_cast<void*>(&values), &word, sizeof values);
    return values;
}

template <typename T, int kWidth>
__device__ void store(T* to, const Pack<T, kWidth>& values) {
    Word<sizeof(T) * kWidth> word;
    memcpy(static_cast<void*>(&word), &values, sizeof values);
    *reinterpret_cast<Word<sizeof(T) * kWidth>*>(to) = word;
}

/// Returns whether each array is aligned for a Pack of kWidth elements. Null is aligned.
template <int kWidth, typename... T>
bool aligned(const T*... arrays) {
    return ((reinterpret_cast<uintptr_t>(arrays) % (sizeof(T) * kWidth) == 0) && ...);
}

/// Returns this thread's index in the grid.
__device__ inline int64_t thread_number() {
    return static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}

/// Returns the number of threads in the grid.
__device__ inline int64_t thread_count() {
    return static_cast<int64_t>(gridDim.x) * blockDim.x;
}

/// Returns a grid for n items with kThreads per block: one item per thread, or several if
/// the grid would exceed kMaxBlocks.
inline mini::cuda::Extents grid_for(int64_t n) {
    const int64_t blocks = std::min(mini::cuda::ceil_div(n, kThreads), kMaxBlocks);
    return {.grid = static_cast<unsigned>(blocks), .block = kThreads};
}

constexpr int kPackWidth = 4;

template <int kWidth, typename Function, typename Out, typename... In>
__global__ void map_kernel(Function function, Out* out, int64_t n, const In*... in) {
    const int64_t first = thread_number(), step = thread_count();
    const int64_t packs = n / kWidth;
    for (int64_t i = first; i < packs; i += step) {
        const auto compute = [&](const auto&... values) {
            Pack<Out, kWidth> results;
            for (int k = 0; k < kWidth; ++k) results.at[k] = function(values.at[k]...);
            store(out + i * kWidth, results);
        };
        compute(load<kWidth>(in + i * kWidth)...);
    }
    for (int64_t i = packs * kWidth + first; i < n; i += step)
        out[i] = function(in[i]...);
}

/// out[i] = function(in[i]...) for i < n. The output may be one of the inputs.
template <typename Function, typename Out, typename... In>
void map(const Function& function, Out* out, int64_t n, cudaStream_t stream,
         const In*... in) {
    const bool wide = aligned<kPackWidth>(out, in...);
    void (*const kernel)(Function, Out*, int64_t, const In*...) =
        wide ? map_kernel<kPackWidth, Function, Out, In...>
             : map_kernel<1, Function, Out, In...>;
    const auto grid = grid_for(wide ? mini::cuda::ceil_div(n, kPackWidth) : n);
    mini::cuda::launch(kernel, grid, stream, function, out, n, in...);
}

template <typename Body>
__global__ void each_kernel(Body body, int64_t n) {
    for (int64_t i = thread_number(); i < n; i += thread_count()) body(i);
}

/// Calls body(i) for i < n.
template <typename Body>
void each(const Body& body, int64_t n, cudaStream_t stream) {
    mini::cuda::launch(each_kernel<Body>, grid_for(n), stream, body, n);
}

/// Two bodies for one launch: first(i) for i < n, then second(i) for i = 0, 1, 2, ...
template <typename First, typename Second>
struct InTurn {
    First first;
    Second second;
    int64_t n;

    __device__ void operator()(int64_t i) const { i < n ? first(i) : second(i - n); }
};
template <typename First, typename Second>
InTurn(First, Second, int64_t) -> InTurn<First, Second>;  // Clang 14 needs it

}  // namespace mini::kernels::cuda
