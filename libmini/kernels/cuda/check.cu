// Searches for the first element that is not as it should be.
//
//     blocks 0, 1, ...     each the first place among its threads' elements
//     one more block       the first among the blocks' places
//
// A minimum of whole numbers is the same in any order. Traffic: every array once.

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

constexpr int64_t kMostSearchers = 1024;  // blocks
constexpr int64_t kNowhere = std::numeric_limits<int64_t>::max();

struct First {
    __device__ int64_t operator()(int64_t a, int64_t b) const { return min(a, b); }
};

struct NotFinite {
    const float* x;
    // A finite number times 0 is 0, anything else is NaN.
    __device__ bool operator()(int64_t i) const { return x[i] * 0.0f != 0.0f; }
};

template <typename T>
struct Different {
    const T *a, *b;
    __device__ bool operator()(int64_t i) const { return widen(a[i]) != widen(b[i]); }
};

struct NotClass {
    const int64_t* target;
    int64_t classes;
    __device__ bool operator()(int64_t i) const {
        return target[i] < 0 || target[i] >= classes;
    }
};

struct NotProbability {
    const float* p;
    __device__ bool operator()(int64_t i) const {
        return !(p[i] >= 0.0f && p[i] <= 1.0f);
    }
};

// Where one block is all there is, its place is the result.
__device__ void write_place(int64_t* to, int64_t place) {
    *to = gridDim.x == 1 && place == kNowhere ? -1 : place;
}

template <typename Predicate>
__global__ void search_kernel(int64_t* places,  // (blocks)
                              Predicate predicate, int64_t n) {
    int64_t first = kNowhere;
    for (int64_t i = thread_number(); i < n; i += thread_count())
        if (predicate(i)) first = min(first, i);
    first = team_reduce<kThreads>(first, First());
    if (threadIdx.x == 0) write_place(places + blockIdx.x, first);
}

// One block.
__global__ void finish_search_kernel(int64_t* place,         // (1)
                                     const int64_t* places,  // (n)
                                     int64_t n) {
    int64_t first = kNowhere;
    for (int64_t i = threadIdx.x; i < n; i += kThreads) first = min(first, places[i]);
    first = team_reduce<kThreads>(first, First());
    if (threadIdx.x == 0) write_place(place, first);
}

template <typename Predicate>
void search(int64_t* place, const Predicate& predicate, int64_t n, cudaStream_t stream) {
    const int64_t blocks =
        std::clamp<int64_t>(ceil_div(n, 4 * kThreads), 1, kMostSearchers);
    const mini::cuda::Extents at{.grid = static_cast<unsigned>(blocks),
                                 .block = kThreads};
    const Scratch<int64_t> places(blocks > 1 ? blocks : 0, stream);
    launch(search_kernel<Predicate>, at, stream, blocks > 1 ? places.get() : place,
           predicate, n);
    if (blocks > 1)
        launch(finish_search_kernel, {.grid = 1, .block = kThreads}, stream, place,
               places.get(), blocks);
}

}  // namespace

void first_not_finite(int64_t* place, const float* x, int64_t n, cudaStream_t stream) {
    search(place, NotFinite{x}, n, stream);
}

void first_difference(int64_t* place, const void* a, const void* b, int64_t n,
                      ElementType type, cudaStream_t stream) {
    with_type(type, [&]<typename T>(T) {
        search(place, Different<T>{static_cast<const T*>(a), static_cast<const T*>(b)}, n,
               stream);
    });
}

void first_not_class(int64_t* place, const int64_t* target, int64_t n, int64_t classes,
                     cudaStream_t stream) {
    search(place, NotClass{target, classes}, n, stream);
}

void first_not_probability(int64_t* place, const float* p, int64_t n,
                           cudaStream_t stream) {
    search(place, NotProbability{p}, n, stream);
}

}  // namespace mini::kernels::cuda
