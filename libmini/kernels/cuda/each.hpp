// Elementwise loops: one kernel that runs a body at every place of contiguous arrays.
//
//     place      0  1  2  3 | 4  5  6  7 | 8  9 10 11 | 12 13
//     thread     0          | 1          | 2          | 0  1
//
// A thread takes kWidth neighbours at once, so that floats move 16 bytes an access and
// neighbouring threads touch neighbouring bytes; then it goes on by the size of the grid.
// What is left over goes one by one. An array at an odd place goes one by one as a whole.
//
// A body names its width and says what to do with the kWidth elements from place i on:
//
//     struct Scale {
//         static constexpr int kWidth = 4;
//         float* x;
//         float alpha;
//         template <int kWidth>
//         __device__ void run(int64_t i) const;
//     };
//
// Included by .cu files alone.

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "libmini/kernels/cuda/launch.hpp"

namespace mini::kernels::cuda {

constexpr int kThreads = 256;

// So many blocks fill the largest GPU several times over; more elements are for loops.
constexpr int64_t kMostBlocks = 16384;

/// kWidth neighbouring elements, which move as one.
template <typename T, int kWidth>
struct alignas(sizeof(T) * kWidth) Pack {
    T at[kWidth];
};

// The word of a pack's size: the compiler, and the simulator's checker, see one access of
// up to 16 bytes.
template <size_t kBytes>
struct Word;
template <>
struct Word<32> {  // two accesses
    struct type {
        uint4 first, second;
    };
};
template <>
struct Word<16> {
    using type = uint4;
};
template <>
struct Word<8> {
    using type = float2;
};
template <>
struct Word<4> {
    using type = unsigned;
};
template <>
struct Word<2> {
    using type = unsigned short;
};
template <>
struct Word<1> {
    using type = unsigned char;
};

template <int kWidth, typename T>
__device__ Pack<T, kWidth> load(const T* from) {
    const auto word =
        *reinterpret_cast<const typename Word<sizeof(T) * kWidth>::type*>(from);
    Pack<T, kWidth> values;
    memcpy(&values, &word, sizeof values);
    return values;
}

template <typename T, int kWidth>
__device__ void store(T* to, const Pack<T, kWidth>& values) {
    typename Word<sizeof(T) * kWidth>::type word;
    memcpy(static_cast<void*>(&word), &values, sizeof values);
    *reinterpret_cast<typename Word<sizeof(T) * kWidth>::type*>(to) = word;
}

/// Whether each array begins where a Pack of so many elements may; null may.
template <int kWidth, typename... T>
bool aligned(const T*... arrays) {
    return ((reinterpret_cast<uintptr_t>(arrays) % (sizeof(T) * kWidth) == 0) && ...);
}

/// This thread's number in the grid, and how many there are.
__device__ inline int64_t thread_number() {
    return static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}
__device__ inline int64_t thread_count() {
    return static_cast<int64_t>(gridDim.x) * blockDim.x;
}

/// A grid of kThreads per block for n items, one per thread or, if they are many, several.
inline mini::cuda::Extents grid_for(int64_t n) {
    const int64_t blocks = std::min(mini::cuda::ceil_div(n, kThreads), kMostBlocks);
    return {.grid = static_cast<unsigned>(blocks), .block = kThreads};
}

template <int kWidth, typename Body>
__global__ void each_kernel(Body body, int64_t n) {
    const int64_t first = thread_number(), step = thread_count();
    const int64_t packs = n / kWidth;
    for (int64_t i = first; i < packs; i += step) body.template run<kWidth>(i * kWidth);
    for (int64_t i = packs * kWidth + first; i < n; i += step) body.template run<1>(i);
}

/// Runs `body` for n places, Body::kWidth at once if `wide`.
template <typename Body>
void each(const Body& body, int64_t n, bool wide, cudaStream_t stream) {
    constexpr int kWidth = Body::kWidth;
    if (wide)
        mini::cuda::launch(each_kernel<kWidth, Body>,
                           grid_for(mini::cuda::ceil_div(n, kWidth)), stream, body, n);
    else
        mini::cuda::launch(each_kernel<1, Body>, grid_for(n), stream, body, n);
}

}  // namespace mini::kernels::cuda
