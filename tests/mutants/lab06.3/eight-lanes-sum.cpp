// Only the lanes with a warp's sum call warp_sum.
// region: libmini/kernels/cuda/sum_ladder.cu 4
    value = warp_sum(value);
    if (lane == 0) of_warp[warp] = value;
    __syncthreads();
    if (lane < kWarps) value = warp_sum(of_warp[lane]);
