// Orders that barriers, fences and atomics do not give.

#include <cstddef>

#include "libmini/kernels/cuda/launch.hpp"
#include "tests/extras/cudasim/bugs/bugs.hpp"

namespace mini::bugs {
namespace {

using mini::cuda::launch;

constexpr int kThreads = 128;
constexpr unsigned kAllLanes = 0xffffffffu;

// Lanes 0, 1 and 2 read a number that lane 3 then overwrites. The wrong barrier leaves
// out the lane in the middle.
__global__ void overwrite(float* out, unsigned lanes) {
    __shared__ float number;
    const unsigned t = threadIdx.x;
    if (t == 0) number = 1;
    __syncwarp();
    if (t < 3) out[t] = number;  // BUG middle_reader_of_warp
    if ((lanes >> t & 1) != 0) __syncwarp(lanes);
    if (t == 3) number = 2;  // BUG middle_reader_of_warp
}

// Three blocks read a number and report by an atomic; the last block overwrites it. In
// the wrong kernel the block of the middle does not fence.
__global__ void overwrite_last(float* out, float* number, int* done, int without_fence) {
    const int block = static_cast<int>(blockIdx.x);
    out[block] = *number;  // BUG middle_reader
    if (block != without_fence) __threadfence();
    const bool last = atomicAdd(done, 1) == static_cast<int>(gridDim.x) - 1;
    if (!last) return;
    __threadfence();
    *number = 2;  // BUG middle_reader
}

// The last block to finish sums the results of all blocks.
__global__ void sum_late_write(float* out, float* parts, int* done, bool late) {
    if (!late) parts[blockIdx.x] = 1.0f;
    __threadfence();
    if (late) parts[blockIdx.x] = 1.0f;  // BUG write_after_fence
    const bool last = atomicAdd(done, 1) == static_cast<int>(gridDim.x) - 1;
    if (!last) return;
    __threadfence();
    float total = 0;
    for (unsigned i = 0; i < gridDim.x; ++i) total += parts[i];  // BUG write_after_fence
    *out = total;
}

// The same with a result per thread: thread 0 reports for its block, after a barrier.
template <bool kBarrier, bool kAllFence>
__global__ void sum_all_threads(float* out, float* parts, int* done) {
    __shared__ bool last;
    parts[blockIdx.x * kThreads + threadIdx.x] = 1.0f;  // BUG fence_without_barrier
    if (kAllFence) __threadfence();
    if (kBarrier) __syncthreads();
    if (threadIdx.x == 0) {
        if (!kAllFence) __threadfence();
        last = atomicAdd(done, 1) == static_cast<int>(gridDim.x) - 1;
        __threadfence();
    }
    __syncthreads();
    if (!last) return;
    float total = 0;
    for (unsigned i = threadIdx.x; i < gridDim.x * kThreads; i += kThreads)
        total += parts[i];  // BUG fence_without_barrier
    out[threadIdx.x] = total;
}

// Adds 1 to *total under a lock, in shared or in global memory.
template <bool kFence>
__device__ void add_locked(int* lock, float* total) {
    while (atomicCAS(lock, 0, 1) != 0) {
    }
    if (kFence) __threadfence();
    *total += 1;  // BUG block_lock
    if (kFence) __threadfence();
    atomicExch(lock, 0);
}
template <bool kFence>
__global__ void count_in_block(float* out) {
    __shared__ int lock;
    __shared__ float total;
    if (threadIdx.x == 0) lock = 0, total = 0;
    __syncthreads();
    add_locked<kFence>(&lock, &total);
    __syncthreads();
    if (threadIdx.x == 0) *out = total;
}
template <bool kFence>
__global__ void count_in_grid(int* lock, float* total) {
    while (atomicCAS(lock, 0, 1) != 0) {
    }
    if (kFence) __threadfence();
    *total += 1;  // BUG device_lock
    if (kFence) __threadfence();
    atomicExch(lock, 0);
}

// Each block adds to the sum of the block before it, for which the wrong kernels wait.
// `step` is 1 if block i waits for block i - 1, -1 if it waits for block i + 1.
__global__ void chain_wrong(int* ready, float* sums, int step) {
    const int block = static_cast<int>(blockIdx.x), before = block - step;
    float sum = 1;
    if (before >= 0 && before < static_cast<int>(gridDim.x)) {
        while (atomicAdd(&ready[before], 0) == 0) {  // BUG wait_for_block
        }
        __threadfence();
        sum += sums[before];
    }
    sums[block] = sum;
    __threadfence();
    atomicExch(&ready[block], 1);
}
// A ticket gives the order in which the blocks began, so a block waits only for blocks
// that run or have ended.
__global__ void chain_right(int* ready, float* sums, int* next) {
    const int ticket = atomicAdd(next, 1);
    float sum = 1;
    if (ticket > 0) {
        while (atomicAdd(&ready[ticket - 1], 0) == 0) {
        }
        __threadfence();
        sum += sums[ticket - 1];
    }
    sums[ticket] = sum;
    __threadfence();
    atomicExch(&ready[ticket], 1);
}
// Warp 0 waits for warp 3 of its own block, which CUDA promises to run.
__global__ void wait_for_warp(float* x) {
    __shared__ int ready;
    if (threadIdx.x == 0) ready = 0;
    __syncthreads();
    if (threadIdx.x == kThreads - 1) {
        x[0] = 2;
        __threadfence_block();
        atomicExch(&ready, 1);
    }
    if (threadIdx.x < 32) {
        while (atomicAdd(&ready, 0) == 0) {
        }
        __threadfence_block();
        if (threadIdx.x == 0) x[1] = x[0];
    }
}

// Numbers of device memory with the value 0.
struct Zeros : Floats {
    explicit Zeros(size_t n) : Floats(n) { cudaMemset(get(), 0, bytes()); }
    int* ints() const { return reinterpret_cast<int*>(get()); }
};

}  // namespace

void middle_reader_of_warp(bool wrong) {
    const Floats out(3);
    launch(overwrite, {.grid = 1, .block = 32}, nullptr, out.get(),
           wrong ? 0b1101u : kAllLanes);
}
void middle_reader(bool wrong) {
    const Floats out(4), number(1);
    const Zeros done(1);
    // In every order of the blocks one of these leaves out neither the first nor the
    // last.
    for (int block = 0; block < 4; ++block) {
        cudaMemset(done.get(), 0, done.bytes());
        launch(overwrite_last, {.grid = 4, .block = 1}, nullptr, out.get(), number.get(),
               done.ints(), wrong ? block : -1);
    }
}
void write_after_fence(bool wrong) {
    const Floats out(1), parts(5);
    const Zeros done(1);
    launch(sum_late_write, {.grid = 5, .block = 1}, nullptr, out.get(), parts.get(),
           done.ints(), wrong);
}
void fence_without_barrier(bool wrong) {
    const Floats out(kThreads), parts(3 * kThreads);
    const mini::cuda::Extents extents = {.grid = 3, .block = kThreads};
    const auto run = [&](auto kernel) {
        const Zeros done(1);
        launch(kernel, extents, nullptr, out.get(), parts.get(), done.ints());
    };
    if (wrong) return run(sum_all_threads<false, false>);
    run(sum_all_threads<true, false>);
    run(sum_all_threads<true, true>);
}
void block_lock(bool wrong) {
    const Floats out(1);
    launch(wrong ? count_in_block<false> : count_in_block<true>,
           {.grid = 1, .block = kThreads}, nullptr, out.get());
}
void device_lock(bool wrong) {
    const Zeros lock(1), total(1);
    launch(wrong ? count_in_grid<false> : count_in_grid<true>, {.grid = 3, .block = 40},
           nullptr, lock.ints(), total.get());
}
void wait_for_block(bool wrong) {
    const Zeros ready(8), sums(8), next(1);
    if (wrong)
        launch(chain_wrong, {.grid = 8, .block = 1}, nullptr, ready.ints(), sums.get(),
               1);
    else
        launch(chain_right, {.grid = 8, .block = 1}, nullptr, ready.ints(), sums.get(),
               next.ints());
}
void wait_for_higher_block(bool wrong) {
    const Zeros ready(8), sums(8);
    if (wrong)
        return launch(chain_wrong, {.grid = 8, .block = 1}, nullptr, ready.ints(),
                      sums.get(), -1);
    launch(wait_for_warp, {.grid = 1, .block = kThreads}, nullptr, sums.get());
}

}  // namespace mini::bugs
