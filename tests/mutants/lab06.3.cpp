// --- a-run-per-thread
// A thread adds 8 adjacent elements.
// region: labs/06-cuda-kernels/sum_ladder.cu 1
    for (int k = 0; k < kPerThread; ++k) {
        const int64_t i = begin + threadIdx.x * kPerThread + k;
        if (i < n) total += x[i];
    }

// --- barrier-in-the-branch
// Only the threads that add reach the barrier.
// region: labs/06-cuda-kernels/sum_ladder.cu 2
    __syncthreads();
    for (int half = kThreads / 2; half > 0; half /= 2) {
        if (t < half) {
            part[t] += part[t + half];
            __syncthreads();
        }
    }

// --- divergent
// Every 2nd, 4th, 8th, ... thread adds.
// region: labs/06-cuda-kernels/sum_ladder.cu 2
    __syncthreads();
    for (int step = 1; step < kThreads; step *= 2) {
        if (t % (2 * step) == 0) part[t] += part[t + step];
        __syncthreads();
    }

// --- eight-lanes-sum
// Only the lanes with a warp's sum call warp_sum.
// region: labs/06-cuda-kernels/sum_ladder.cu 4
    value = warp_sum(value);
    if (lane == 0) of_warp[warp] = value;
    __syncthreads();
    if (lane < kWarps) value = warp_sum(of_warp[lane]);

// --- four-steps
// Lanes that differ in the highest bit exchange nothing.
// region: labs/06-cuda-kernels/sum_ladder.cu 3
    for (int step = kWarpSize / 4; step > 0; step /= 2)
        value += __shfl_xor_sync(kAllLanes, value, step);

// --- interleaved
// Adjacent elements are added, with bank conflicts.
// region: labs/06-cuda-kernels/sum_ladder.cu 2
    __syncthreads();
    for (int step = 1; step < kThreads; step *= 2) {
        const int i = 2 * step * t;
        if (i < kThreads) part[i] += part[i + step];
        __syncthreads();
    }

// --- mask-of-half-a-warp
// The mask has 16 lanes, but 32 call.
// region: labs/06-cuda-kernels/sum_ladder.cu 3
    for (int step = kWarpSize / 2; step > 0; step /= 2)
        value += __shfl_xor_sync(0xffffu, value, step);

// --- no-barrier-before
// The tree begins before all threads have written.
// region: labs/06-cuda-kernels/sum_ladder.cu 2
    for (int half = kThreads / 2; half > 0; half /= 2) {
        if (t < half) part[t] += part[t + half];
        __syncthreads();
    }

// --- no-barrier-in-the-loop
// The next step begins before all threads have added.
// region: labs/06-cuda-kernels/sum_ladder.cu 2
    __syncthreads();
    for (int half = kThreads / 2; half > 0; half /= 2)
        if (t < half) part[t] += part[t + half];
    __syncthreads();

// --- no-guard
// Elements past the end are added.
// region: labs/06-cuda-kernels/sum_ladder.cu 1
    for (int k = 0; k < kPerThread; ++k)
        total += x[begin + k * kThreads + threadIdx.x];

// --- shuffle-in-the-branch
// Only the lanes that add call the shuffle.
// region: labs/06-cuda-kernels/sum_ladder.cu 3
    const int lane = static_cast<int>(threadIdx.x) % kWarpSize;
    for (int step = kWarpSize / 2; step > 0; step /= 2)
        if (lane < step) value += __shfl_down_sync(kAllLanes, value, step);

// --- sum-in-lane-0
// Only lane 0 has the sum of the warp.
// region: labs/06-cuda-kernels/sum_ladder.cu 3
    for (int step = kWarpSize / 2; step > 0; step /= 2)
        value += __shfl_down_sync(kAllLanes, value, step);

// --- sum-in-warp-0
// Only the first warp has the sum of the block.
// region: labs/06-cuda-kernels/sum_ladder.cu 4
    value = warp_sum(value);
    if (lane == 0) of_warp[warp] = value;
    __syncthreads();
    value = 0.0f;
    if (warp == 0) value = warp_sum(lane < kWarps ? of_warp[lane] : 0.0f);

// --- sums-not-waited-for
// The sums of the warps are read without a barrier.
// region: labs/06-cuda-kernels/sum_ladder.cu 4
    value = warp_sum(value);
    if (lane == 0) of_warp[warp] = value;
    value = warp_sum(lane < kWarps ? of_warp[lane] : 0.0f);
