// A thread adds 8 adjacent elements.
// region: libmini/kernels/cuda/sum_ladder.cu 1
    for (int k = 0; k < kPerThread; ++k) {
        const int64_t i = begin + threadIdx.x * kPerThread + k;
        if (i < n) total += x[i];
    }
