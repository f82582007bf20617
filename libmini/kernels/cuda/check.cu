// Searches for the index of the first element in which two arrays differ.
//
//     blocks 0, 1, ...     each finds the lowest index among its threads'
//     elements one more block       finds the lowest of the blocks' indices
//
// The minimum of integers is the same in any order. Traffic: both arrays are
// read once.

#include <algorithm>
#include <cstdint>
#include <limits>

#include "libmini/kernels/cuda/element_types.hpp"
#include "libmini/kernels/cuda/scratch.hpp"
#include "libmini/kernels/cuda/team.hpp"

namespace mini::kernels::cuda {
namespace {

using mini::cuda::ceil_div;
using mini::cuda::launch;

constexpr int64_t kMaxSearchBlocks = 1024;
constexpr int64_t kNotFound = std::numeric_limits<int64_t>::max();

struct First {
    __device__ int64_t operator()(int64_t a, int64_t b) const { return min(a, b); }
};

// Writes a block's index. If the grid has only one block, the index is the
// result, so -1 replaces kNotFound.
__device__ void write_index(int64_t* to, int64_t index) {
    *to = gridDim.x == 1 && index == kNotFound ? -1 : index;
}

template <typename T>
__global__ void search_kernel(int64_t* indices,  // (blocks)
                              const T* a, const T* b, int64_t n) {
    int64_t first = kNotFound;
    for (int64_t i = thread_number(); i < n; i += thread_count())
        if (widen(a[i]) != widen(b[i])) first = min(first, i);
    first = team_reduce<kThreads>(first, First());
    if (threadIdx.x == 0) write_index(indices + blockIdx.x, first);
}

// Launch with one block.
__global__ void finish_search_kernel(int64_t* index,          // (1)
                                     const int64_t* indices,  // (n)
                                     int64_t n) {
    int64_t first = kNotFound;
    for (int64_t i = threadIdx.x; i < n; i += kThreads) first = min(first, indices[i]);
    first = team_reduce<kThreads>(first, First());
    if (threadIdx.x == 0) write_index(index, first);
}

template <typename T>
void search(int64_t* index, const T* a, const T* b, int64_t n, cudaStream_t stream) {
    const int64_t blocks =
        std::clamp<int64_t>(ceil_div(n, 4 * kThreads), 1, kMaxSearchBlocks);
    const mini::cuda::Extents extents{.grid = static_cast<unsigned>(blocks),
                                      .block = kThreads};
    const Scratch<int64_t> indices(blocks > 1 ? blocks : 0, stream);
    launch(search_kernel<T>, extents, stream, blocks > 1 ? indices.get() : index, a, b,
           n);
    if (blocks > 1)
        launch(finish_search_kernel, {.grid = 1, .block = kThreads}, stream, index,
               indices.get(), blocks);
}

}  // namespace

void first_difference(int64_t* index, const void* a, const void* b, int64_t n,
                      ElementType type, cudaStream_t stream) {
    with_type(type, [&]<typename T>(T) {
        search(index, static_cast<const T*>(a), static_cast<const T*>(b), n, stream);
    });
}

}  // namespace mini::kernels::cuda
