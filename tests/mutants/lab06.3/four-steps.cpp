// Lanes that differ in the highest bit exchange nothing.
// region: libmini/kernels/cuda/sum_ladder.cu 3
    for (int step = kWarpSize / 4; step > 0; step /= 2)
        value += __shfl_xor_sync(kAllLanes, value, step);
