// Only lane 0 has the sum of the warp.
// region: libmini/kernels/cuda/sum_ladder.cu 3
    for (int step = kWarpSize / 2; step > 0; step /= 2)
        value += __shfl_down_sync(kAllLanes, value, step);
