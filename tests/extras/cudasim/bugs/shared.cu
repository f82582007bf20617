// Bugs with shared memory: missing barriers, arrays that are too small, and missing
// initialisation.

#include "libmini/kernels/cuda/launch.hpp"
#include "tests/extras/cudasim/bugs/bugs.hpp"

namespace mini::bugs {
namespace {

using mini::cuda::dynamic_shared;
using mini::cuda::launch;

constexpr int kThreads = 64;

// Reverses 64 numbers.
template <bool kWrong>
__global__ void reverse(float* x) {
    __shared__ float all[kThreads];
    all[threadIdx.x] = x[threadIdx.x];
    if (!kWrong) __syncthreads();
    x[threadIdx.x] = all[kThreads - 1 - threadIdx.x];  // BUG missing_barrier
}

// Sums 64 numbers with a tree reduction.
template <bool kWrong>
__global__ void sum(float* out, const float* x) {
    __shared__ float part[kThreads];
    const unsigned t = threadIdx.x;
    part[t] = x[t];
    __syncthreads();
    for (unsigned half = kThreads / 2; half > 0; half /= 2) {
        if (t < half) part[t] += part[t + half];  // BUG reduction_race
        if (!kWrong) __syncthreads();
    }
    if (t == 0) *out = part[0];
}

// Smooths four times, alternating between two buffers.
template <bool kWrong>
__global__ void smooth(float* x) {
    __shared__ float buffer[2][kThreads];
    const unsigned t = threadIdx.x;
    buffer[0][t] = x[t];
    __syncthreads();
    for (int step = 0; step < 4; ++step) {
        const float* const from = buffer[step % 2];
        buffer[1 - step % 2][t] =
            (from[t] + from[(t + 1) % kThreads]) / 2;  // BUG double_buffer
        if (!kWrong) __syncthreads();
    }
    x[t] = buffer[0][t];
}

// Loads x in tiles of 64 numbers; each thread sums all numbers of all tiles.
template <bool kWrong>
__global__ void tiles(float* out, const float* x, int count) {
    __shared__ float tile[kThreads];
    float total = 0;
    for (int k = 0; k < count; ++k) {
        tile[threadIdx.x] = x[k * kThreads + threadIdx.x];  // BUG tile_reuse
        __syncthreads();
        for (int i = 0; i < kThreads; ++i) total += tile[i];
        if (!kWrong) __syncthreads();
    }
    out[threadIdx.x] = total;
}

// Computes the differences of neighbours. The shared array needs one element more than
// the block has threads.
__global__ void halo_wrong(float* out, const float* x, unsigned n) {
    __shared__ float cells[kThreads];
    const unsigned t = threadIdx.x;
    if (t == 0) cells[0] = x[0];
    float* const next =
        &cells[0] + t + n;  // no array with a size that the compiler checks
    *next = x[t + n];       // BUG small_array
    __syncthreads();
    out[t] = cells[(t + 1) % kThreads] - cells[t];
}
__global__ void halo_right(float* out, const float* x, unsigned n) {
    __shared__ float cells[kThreads + 1];
    const unsigned t = threadIdx.x;
    if (t == 0) cells[0] = x[0];
    cells[t + n] = x[t + n];
    __syncthreads();
    out[t] = cells[t + 1] - cells[t];
}

// Swaps neighbours through dynamic shared memory, whose size the launch sets.
__global__ void stage(float* x) {
    auto* const staged = dynamic_shared<float>();
    staged[threadIdx.x] = x[threadIdx.x];  // BUG small_dynamic
    __syncthreads();
    x[threadIdx.x] = staged[threadIdx.x ^ 1];
}

// Counts the positive numbers in shared memory, which is uninitialised when the block
// starts.
template <bool kWrong>
__global__ void count(int* out, const float* x) {
    __shared__ int positive;
    if (!kWrong && threadIdx.x == 0) positive = 0;
    if (!kWrong) __syncthreads();
    if (x[threadIdx.x] > 0) atomicAdd(&positive, 1);  // BUG unset_accumulator
    __syncthreads();
    if (threadIdx.x == 0) *out = positive;
}

}  // namespace

void missing_barrier(bool wrong) {
    const Floats x(kThreads);
    launch(wrong ? reverse<true> : reverse<false>, {.grid = 1, .block = kThreads},
           nullptr, x.get());
}
void reduction_race(bool wrong) {
    const Floats x(kThreads), out(1);
    launch(wrong ? sum<true> : sum<false>, {.grid = 1, .block = kThreads}, nullptr,
           out.get(), x.get());
}
void double_buffer(bool wrong) {
    const Floats x(kThreads);
    launch(wrong ? smooth<true> : smooth<false>, {.grid = 1, .block = kThreads}, nullptr,
           x.get());
}
void tile_reuse(bool wrong) {
    const Floats x(3 * kThreads), out(kThreads);
    launch(wrong ? tiles<true> : tiles<false>, {.grid = 1, .block = kThreads}, nullptr,
           out.get(), x.get(), 3);
}
void small_array(bool wrong) {
    const Floats x(kThreads + 1), out(kThreads);
    launch(wrong ? halo_wrong : halo_right, {.grid = 1, .block = kThreads}, nullptr,
           out.get(), x.get(), 1u);
}
void small_dynamic(bool wrong) {
    const Floats x(kThreads);
    launch(stage,
           {.grid = 1,
            .block = kThreads,
            .shared_bytes = kThreads * (wrong ? sizeof(char) : sizeof(float))},
           nullptr, x.get());
}
void unset_accumulator(bool wrong) {
    const Floats x(kThreads), out(1);
    launch(wrong ? count<true> : count<false>, {.grid = 1, .block = kThreads}, nullptr,
           reinterpret_cast<int*>(out.get()), x.get());
}

}  // namespace mini::bugs
