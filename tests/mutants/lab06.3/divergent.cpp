// Every 2nd, 4th, 8th, ... thread adds.
// region: libmini/kernels/cuda/sum_ladder.cu 2
    __syncthreads();
    for (int step = 1; step < kThreads; step *= 2) {
        if (t % (2 * step) == 0) part[t] += part[t + step];
        __syncthreads();
    }
