// The sums of the warps are read without a barrier.
// region: libmini/kernels/cuda/sum_ladder.cu 4
    value = warp_sum(value);
    if (lane == 0) of_warp[warp] = value;
    value = warp_sum(lane < kWarps ? of_warp[lane] : 0.0f);
