// Missing or wrong synchronisation of the threads of a block, a warp or several blocks.

#include "libmini/kernels/cuda/launch.hpp"
#include "tests/extras/cudasim/bugs/bugs.hpp"

namespace mini::bugs {
namespace {

using mini::cuda::launch;

constexpr int kThreads = 64;
constexpr unsigned kAllLanes = 0xffffffffu;

__global__ void halves_wrong(float* x) {
    __shared__ float all[kThreads];
    const unsigned t = threadIdx.x;
    if (t < kThreads / 2) {
        all[t] = x[t];
        __syncthreads();  // BUG divergent_barrier
    } else {
        all[t] = -x[t];
        __syncthreads();
    }
    x[t] = all[kThreads - 1 - t];
}
__global__ void halves_right(float* x) {
    __shared__ float all[kThreads];
    const unsigned t = threadIdx.x;
    all[t] = t < kThreads / 2 ? x[t] : -x[t];
    __syncthreads();
    x[t] = all[kThreads - 1 - t];
}

template <bool kWrong>
__global__ void rotate(float* x, unsigned n) {
    __shared__ float all[kThreads];
    const unsigned t = threadIdx.x;
    if (kWrong && t >= n) return;
    if (t < n) all[t] = x[t];
    __syncthreads();  // BUG early_return
    if (t < n) x[t] = all[(t + 1) % n];
}

// Each lane i < 16 adds the value of lane i + 16.
__global__ void fold_wrong(float* x) {
    if (threadIdx.x >= 16) return;
    x[threadIdx.x] += __shfl_down_sync(0xffffu, x[threadIdx.x], 16);  // BUG shuffle_mask
}
__global__ void fold_right(float* x) {
    const float other = __shfl_down_sync(kAllLanes, x[threadIdx.x], 16);
    if (threadIdx.x < 16) x[threadIdx.x] += other;
}

// Sums 8 lanes. In the wrong kernel the other lanes, which are in the mask, have ended.
__device__ float sum_of_lanes(float value) {
    for (int step = 16; step > 0; step /= 2)
        value += __shfl_xor_sync(kAllLanes, value, step);  // BUG ended_lane
    return value;
}
__global__ void eight_wrong(float* x) {
    const unsigned lane = threadIdx.x;
    if (lane < 8) x[lane] = sum_of_lanes(x[lane]);
}
__global__ void eight_right(float* x) {
    const unsigned lane = threadIdx.x;
    const float sum = sum_of_lanes(lane < 8 ? x[lane] : 0.0f);
    if (lane < 8) x[lane] = sum;
}

// The wrong kernel votes with a mask of all lanes in a branch that only 16 lanes take.
__global__ void vote_wrong(float* x) {
    if (threadIdx.x < 16)
        x[threadIdx.x] =
            static_cast<float>(__ballot_sync(kAllLanes, 1));  // BUG absent_lane
    __syncthreads();
}
__global__ void vote_right(float* x) {
    const unsigned votes = __ballot_sync(kAllLanes, 1);
    if (threadIdx.x < 16) x[threadIdx.x] = static_cast<float>(votes);
}

// Swaps neighbours. Needs __syncwarp(), because the lanes of a warp need not run in
// lockstep.
template <bool kWrong>
__device__ float neighbour(float value) {
    __shared__ float all[32];
    all[threadIdx.x] = value;
    if (!kWrong) __syncwarp();
    return all[threadIdx.x ^ 1];  // BUG missing_syncwarp
}
template <bool kWrong>
__global__ void swap(float* x) {
    x[threadIdx.x] = neighbour<kWrong>(x[threadIdx.x]);
}

__global__ void histogram_wrong(int* counts, const float* x) {
    const int bin = static_cast<int>(x[threadIdx.x]) % 4;
    counts[bin] += 1;  // BUG histogram
}
__global__ void histogram_right(int* counts, const float* x) {
    const int bin = static_cast<int>(x[threadIdx.x]) % 4;
    atomicAdd(&counts[bin], 1);
}

// Adds the next element to each element: the wrong kernel in place, the correct kernel
// into `out`.
__global__ void shift_wrong(float* x, unsigned n) {
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    const float right = i + 1 < n ? x[i + 1] : 0;  // BUG neighbour_blocks
    __syncthreads();
    if (i < n) x[i] += right;  // BUG neighbour_blocks
}
__global__ void shift_right(float* out, const float* x, unsigned n) {
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = x[i] + (i + 1 < n ? x[i + 1] : 0);
}

// The last block to finish sums the results of all blocks.
template <bool kWrong>
__global__ void total(float* out, float* parts, int* done) {
    parts[blockIdx.x] = 1.0f;  // BUG last_block
    if (!kWrong) __threadfence();
    const bool last = atomicAdd(done, 1) == static_cast<int>(gridDim.x) - 1;
    if (!last) return;
    if (!kWrong) __threadfence();
    float total = 0;
    for (unsigned i = 0; i < gridDim.x; ++i) total += parts[i];  // BUG last_block
    *out = total;
}

// All threads set a flag, without an order.
__global__ void set_flag(int* flag, bool differs) {
    *flag = differs ? static_cast<int>(threadIdx.x) : 1;  // BUG different_values
}
__global__ void set_and_read(float* out, int* flag) {
    if (threadIdx.x == 0) *flag = 1;  // BUG read_beside_write
    if (threadIdx.x != 0) out[threadIdx.x] = static_cast<float>(*flag);
}

// Counts the positive numbers of a block; the wrong kernel reads shared memory before the
// vote, which is a barrier.
template <bool kWrong>
__global__ void votes(float* out, const float* x) {
    __shared__ float all[kThreads];
    const unsigned t = threadIdx.x;
    all[t] = x[t];
    float other = 0;
    if (kWrong) other = all[kThreads - 1 - t];  // BUG block_votes
    const int positive = __syncthreads_count(x[t] > 0);
    if (!kWrong) other = all[kThreads - 1 - t];
    const bool fit = __syncthreads_or(t == 5) != 0 && __syncthreads_or(0) == 0 &&
                     __syncthreads_and(1) != 0 && __syncthreads_and(t != 5) == 0;
    out[t] = fit && positive == kThreads ? other : -1;
}

}  // namespace

void divergent_barrier(bool wrong) {
    const Floats x(kThreads);
    launch(wrong ? halves_wrong : halves_right, {.grid = 1, .block = kThreads}, nullptr,
           x.get());
}
void early_return(bool wrong) {
    const Floats x(kThreads);
    launch(wrong ? rotate<true> : rotate<false>, {.grid = 1, .block = kThreads}, nullptr,
           x.get(), 50u);
}
void shuffle_mask(bool wrong) {
    const Floats x(32);
    launch(wrong ? fold_wrong : fold_right, {.grid = 1, .block = 32}, nullptr, x.get());
}
void ended_lane(bool wrong) {
    const Floats x(32);
    launch(wrong ? eight_wrong : eight_right, {.grid = 1, .block = 32}, nullptr, x.get());
}
void absent_lane(bool wrong) {
    const Floats x(32);
    launch(wrong ? vote_wrong : vote_right, {.grid = 1, .block = 32}, nullptr, x.get());
    cudaDeviceSynchronize();
}
void missing_syncwarp(bool wrong) {
    const Floats x(32);
    launch(wrong ? swap<true> : swap<false>, {.grid = 1, .block = 32}, nullptr, x.get());
}
void histogram(bool wrong) {
    const Floats x(kThreads), counts(4);
    cudaMemset(counts.get(), 0, counts.bytes());
    launch(wrong ? histogram_wrong : histogram_right, {.grid = 1, .block = kThreads},
           nullptr, reinterpret_cast<int*>(counts.get()), x.get());
}
void neighbour_blocks(bool wrong) {
    const Floats x(100), out(100);
    if (wrong)
        launch(shift_wrong, {.grid = 4, .block = 32}, nullptr, x.get(), 100u);
    else
        launch(shift_right, {.grid = 4, .block = 32}, nullptr, out.get(), x.get(), 100u);
}
void last_block(bool wrong) {
    const Floats out(1), parts(5), done(1);
    cudaMemset(done.get(), 0, done.bytes());
    launch(wrong ? total<true> : total<false>, {.grid = 5, .block = 1}, nullptr,
           out.get(), parts.get(), reinterpret_cast<int*>(done.get()));
}

void same_value(bool wrong) {
    const Floats flag(1);
    launch(set_flag, {.grid = 2, .block = wrong ? kThreads : 1}, nullptr,
           reinterpret_cast<int*>(flag.get()), false);
}
void different_values(bool wrong) {
    const Floats flag(1);
    launch(set_flag, {.grid = 1, .block = wrong ? kThreads : 1}, nullptr,
           reinterpret_cast<int*>(flag.get()), true);
}
void read_beside_write(bool wrong) {
    const Floats out(kThreads), flag(1);
    launch(set_flag, {.grid = 1, .block = 1}, nullptr, reinterpret_cast<int*>(flag.get()),
           false);
    launch(set_and_read, {.grid = 1, .block = wrong ? kThreads : 1}, nullptr, out.get(),
           reinterpret_cast<int*>(flag.get()));
}
void block_votes(bool wrong) {
    const Floats out(kThreads), x(kThreads);
    launch(wrong ? votes<true> : votes<false>, {.grid = 1, .block = kThreads}, nullptr,
           out.get(), x.get());
    float last = 0;
    cudaMemcpy(&last, out.get() + kThreads - 1, sizeof(last), cudaMemcpyDeviceToHost);
    if (!wrong && last != 1) throw Error("block_votes: a vote is wrong");
}

}  // namespace mini::bugs
