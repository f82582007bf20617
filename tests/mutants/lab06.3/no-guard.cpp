// Elements past the end are added.
// region: libmini/kernels/cuda/sum_ladder.cu 1
    for (int k = 0; k < kPerThread; ++k)
        total += x[begin + k * kThreads + threadIdx.x];
