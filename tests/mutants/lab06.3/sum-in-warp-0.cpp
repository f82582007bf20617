// Only the first warp has the sum of the block.
// region: libmini/kernels/cuda/sum_ladder.cu 4
    value = warp_sum(value);
    if (lane == 0) of_warp[warp] = value;
    __syncthreads();
    value = 0.0f;
    if (warp == 0) value = warp_sum(lane < kWarps ? of_warp[lane] : 0.0f);
