// The mask has 16 lanes, but 32 call.
// region: libmini/kernels/cuda/sum_ladder.cu 3
    for (int step = kWarpSize / 2; step > 0; step /= 2)
        value += __shfl_xor_sync(0xffffu, value, step);
