// Only the lanes that add call the shuffle.
// region: libmini/kernels/cuda/sum_ladder.cu 3
    const int lane = static_cast<int>(threadIdx.x) % kWarpSize;
    for (int step = kWarpSize / 2; step > 0; step /= 2)
        if (lane < step) value += __shfl_down_sync(kAllLanes, value, step);
