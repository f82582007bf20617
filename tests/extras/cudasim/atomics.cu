#include "tests/extras/cudasim/atomics.hpp"

#include "libmini/kernels/cuda/launch.hpp"

namespace mini::patterns {
namespace {

using mini::cuda::launch;

// Adds i to *total in thread i, as atomicAdd does, by compare-and-swap.
template <typename T>
__global__ void add_kernel(T* total) {
    const T mine = static_cast<T>(blockIdx.x * blockDim.x + threadIdx.x);
    T seen = *total, expected;
    do {
        expected = seen;
        seen = atomicCAS(total, expected, static_cast<T>(expected + mine));
    } while (seen != expected);
}

// Takes part in a chain: thread i leaves i and records what it found.
template <typename T>
__global__ void exchange_kernel(T* found, T* last) {
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    found[i] = atomicExch(last, static_cast<T>(i));
}

}  // namespace

template <typename T>
void add_by_swap(T* total, int blocks, int threads) {
    launch(
        add_kernel<T>,
        {.grid = static_cast<unsigned>(blocks), .block = static_cast<unsigned>(threads)},
        nullptr, total);
}
template <typename T>
void exchange_all(T* found, T* last, int blocks, int threads) {
    launch(
        exchange_kernel<T>,
        {.grid = static_cast<unsigned>(blocks), .block = static_cast<unsigned>(threads)},
        nullptr, found, last);
}

template void add_by_swap(int*, int, int);
template void add_by_swap(unsigned*, int, int);
template void add_by_swap(unsigned long long*, int, int);
template void exchange_all(int*, int*, int, int);
template void exchange_all(unsigned*, unsigned*, int, int);
template void exchange_all(unsigned long long*, unsigned long long*, int, int);
template void exchange_all(float*, float*, int, int);

}  // namespace mini::patterns
