// Asynchronous copies (cp.async) without the right wait.

#include <cuda_pipeline.h>

#include "libmini/kernels/cuda/launch.hpp"
#include "tests/extras/cudasim/bugs/bugs.hpp"

namespace mini::bugs {
namespace {

using mini::cuda::launch;

constexpr int kThreads = 64;

// Reverses 64 numbers by way of shared memory.
__global__ void reverse_copied_wrong(float* x) {
    __shared__ float all[kThreads];
    const unsigned t = threadIdx.x;
    __pipeline_memcpy_async(&all[t], &x[t], sizeof(float));  // BUG forgotten_wait
    __pipeline_commit();
    __syncthreads();
    x[t] = all[kThreads - 1 - t];  // BUG forgotten_wait
}
__global__ void reverse_copied_right(float* x) {
    __shared__ float all[kThreads];
    const unsigned t = threadIdx.x;
    __pipeline_memcpy_async(&all[t], &x[t], sizeof(float));
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    x[t] = all[kThreads - 1 - t];
}

// Sums the tiles of x, one after another; the copy of the next tile is in flight
// meanwhile. `in_flight` groups may be in flight after the wait: 1 is right.
template <int kInFlight>
__global__ void sum_tiles(float* out, const float* x, int tiles) {
    __shared__ float stages[2][kThreads];
    const unsigned t = threadIdx.x;
    const auto start = [&](int tile) {
        if (tile < tiles)
            __pipeline_memcpy_async(&stages[tile % 2][t], &x[tile * kThreads + t],
                                    sizeof(float));
        __pipeline_commit();
    };
    float total = 0;
    start(0);
    for (int tile = 0; tile < tiles; ++tile) {
        start(tile + 1);
        __pipeline_wait_prior(kInFlight);
        __syncthreads();
        total += stages[tile % 2][kThreads - 1 - t];  // BUG weak_wait
        __syncthreads();
    }
    __pipeline_wait_prior(0);
    out[t] = total;
}

// Each thread waits for its own copies only: the others' need a barrier after the wait.
__global__ void wait_last(float* x) {
    __shared__ float all[kThreads];
    const unsigned t = threadIdx.x;
    __pipeline_memcpy_async(&all[t], &x[t], sizeof(float));
    __pipeline_commit();
    __syncthreads();
    __pipeline_wait_prior(0);      // BUG wait_after_barrier
    x[t] = all[kThreads - 1 - t];  // BUG wait_after_barrier
}

// Doubles 64 numbers twice: the second copy may only start when all threads are done with
// the first.
__global__ void two_rounds(float* x, bool barrier) {
    __shared__ float all[kThreads];
    const unsigned t = threadIdx.x;
    for (int round = 0; round < 2; ++round) {
        __pipeline_memcpy_async(&all[t], &x[t], sizeof(float));  // BUG early_overwrite
        __pipeline_commit();
        __pipeline_wait_prior(0);
        __syncthreads();
        const float other = all[kThreads - 1 - t];
        if (barrier) __syncthreads();
        x[t] = 2 * other;
    }
}

// Starts a copy that no step needs, as a loop that always copies one tile ahead does.
__global__ void copy_ahead(float* out, const float* x, bool wait) {
    __shared__ float stages[2][kThreads];
    const unsigned t = threadIdx.x;
    for (int tile = 0; tile < 2; ++tile) {
        __pipeline_memcpy_async(  // BUG unfinished_copy
            &stages[tile][t], &x[tile * kThreads + t], sizeof(float));
        __pipeline_commit();
    }
    __pipeline_wait_prior(1);
    out[t] = stages[0][t];
    if (wait) __pipeline_wait_prior(0);
}

// A wait is for the groups that were committed.
__global__ void no_group(float* out, const float* x, bool commit) {
    __shared__ float all[kThreads];
    const unsigned t = threadIdx.x;
    __pipeline_memcpy_async(&all[t], &x[t], sizeof(float));  // BUG uncommitted_copy
    if (commit) __pipeline_commit();
    __pipeline_wait_prior(0);
    out[t] = all[t];  // BUG uncommitted_copy
}

__global__ void shared_to_shared(float* out, const float* x, bool from_shared) {
    __shared__ float a[kThreads], b[kThreads];
    const unsigned t = threadIdx.x;
    a[t] = x[t];
    __pipeline_memcpy_async(  // BUG copy_from_shared
        &b[t], from_shared ? &a[t] : &x[t], sizeof(float));
    __pipeline_commit();
    __pipeline_wait_prior(0);
    out[t] = a[t] + b[t];
}

}  // namespace

void forgotten_wait(bool wrong) {
    const Floats x(kThreads);
    launch(wrong ? reverse_copied_wrong : reverse_copied_right,
           {.grid = 1, .block = kThreads}, nullptr, x.get());
}
void weak_wait(bool wrong) {
    const Floats x(3 * kThreads), out(kThreads);
    launch(wrong ? sum_tiles<2> : sum_tiles<1>, {.grid = 1, .block = kThreads}, nullptr,
           out.get(), x.get(), 3);
}
void wait_after_barrier(bool wrong) {
    const Floats x(kThreads);
    launch(wrong ? wait_last : reverse_copied_right, {.grid = 1, .block = kThreads},
           nullptr, x.get());
}
void early_overwrite(bool wrong) {
    const Floats x(kThreads);
    launch(two_rounds, {.grid = 1, .block = kThreads}, nullptr, x.get(), !wrong);
}
void unfinished_copy(bool wrong) {
    const Floats x(2 * kThreads), out(kThreads);
    launch(copy_ahead, {.grid = 1, .block = kThreads}, nullptr, out.get(), x.get(),
           !wrong);
}
void uncommitted_copy(bool wrong) {
    const Floats x(kThreads), out(kThreads);
    launch(no_group, {.grid = 1, .block = kThreads}, nullptr, out.get(), x.get(), !wrong);
}
void copy_from_shared(bool wrong) {
    const Floats x(kThreads), out(kThreads);
    launch(shared_to_shared, {.grid = 1, .block = kThreads}, nullptr, out.get(), x.get(),
           wrong);
}

}  // namespace mini::bugs
