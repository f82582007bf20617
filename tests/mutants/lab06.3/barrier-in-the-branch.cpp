// Only the threads that add reach the barrier.
// region: libmini/kernels/cuda/sum_ladder.cu 2
    __syncthreads();
    for (int half = kThreads / 2; half > 0; half /= 2) {
        if (t < half) {
            part[t] += part[t + half];
            __syncthreads();
        }
    }
