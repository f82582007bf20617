// Adjacent elements are added, with bank conflicts.
// region: libmini/kernels/cuda/sum_ladder.cu 2
    __syncthreads();
    for (int step = 1; step < kThreads; step *= 2) {
        const int i = 2 * step * t;
        if (i < kThreads) part[i] += part[i + step];
        __syncthreads();
    }
