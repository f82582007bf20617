// A lane begins with its first element, which may be -inf.
// region: libmini/kernels/cuda/softmax_online.cu 2
    if (lane < cols) all = {x[lane], 1.0f};
    for (int64_t j = lane + kWarpSize; j < cols; j += kWarpSize)
        all = merge(all, {x[j], 1.0f});
    for (int step = kWarpSize / 2; step > 0; step /= 2)
        all = merge(all, {__shfl_xor_sync(kAllLanes, all.greatest, step),
                          __shfl_xor_sync(kAllLanes, all.total, step)});
    const float log_total = logf(all.total);
    for (int64_t j = lane; j < cols; j += kWarpSize)
        y[j] = x[j] - all.greatest - log_total;
