// --- begins-at-minus-infinity
// A lane without elements has the maximum -inf.
// region: labs/06-cuda-kernels/softmax_online.cu 2
    all.greatest = -INFINITY;
    for (int64_t j = lane; j < cols; j += kWarpSize) all = merge(all, {x[j], 1.0f});
    for (int step = kWarpSize / 2; step > 0; step /= 2)
        all = merge(all, {__shfl_xor_sync(kAllLanes, all.greatest, step),
                          __shfl_xor_sync(kAllLanes, all.total, step)});
    const float log_total = logf(all.total);
    for (int64_t j = lane; j < cols; j += kWarpSize)
        y[j] = x[j] - all.greatest - log_total;

// --- begins-with-an-element
// A lane begins with its first element, which may be -inf.
// region: labs/06-cuda-kernels/softmax_online.cu 2
    if (lane < cols) all = {x[lane], 1.0f};
    for (int64_t j = lane + kWarpSize; j < cols; j += kWarpSize)
        all = merge(all, {x[j], 1.0f});
    for (int step = kWarpSize / 2; step > 0; step /= 2)
        all = merge(all, {__shfl_xor_sync(kAllLanes, all.greatest, step),
                          __shfl_xor_sync(kAllLanes, all.total, step)});
    const float log_total = logf(all.total);
    for (int64_t j = lane; j < cols; j += kWarpSize)
        y[j] = x[j] - all.greatest - log_total;

// --- maximum-from-zero
// The maximum begins at 0.
// region: libmini/kernels/cuda/softmax.cu
    float greatest = 0.0f;
    for (int64_t j = lane; j < cols; j += kTeam) greatest = fmaxf(greatest, x[j]);
    greatest = team_reduce<kTeam>(greatest, Max());
    float total = 0.0f;
    for (int64_t j = lane; j < cols; j += kTeam) total += expf(x[j] - greatest);
    const float log_total = logf(team_reduce<kTeam>(total, Sum()));
    for (int64_t j = lane; j < cols; j += kTeam) y[j] = x[j] - greatest - log_total;

// --- maximum-of-a-lane
// Each lane subtracts the maximum of its own elements.
// region: libmini/kernels/cuda/softmax.cu
    float greatest = -INFINITY;
    for (int64_t j = lane; j < cols; j += kTeam) greatest = fmaxf(greatest, x[j]);
    float total = 0.0f;
    for (int64_t j = lane; j < cols; j += kTeam) total += expf(x[j] - greatest);
    const float log_total = logf(team_reduce<kTeam>(total, Sum()));
    for (int64_t j = lane; j < cols; j += kTeam) y[j] = x[j] - greatest - log_total;

// --- nothing-subtracted
// The exponentials are of x itself.
// region: libmini/kernels/cuda/softmax.cu
    const float greatest = 0.0f;
    float total = 0.0f;
    for (int64_t j = lane; j < cols; j += kTeam) total += expf(x[j] - greatest);
    const float log_total = logf(team_reduce<kTeam>(total, Sum()));
    for (int64_t j = lane; j < cols; j += kTeam) y[j] = x[j] - greatest - log_total;

// --- old-sum-not-scaled
// Only the sum of b is scaled.
// region: labs/06-cuda-kernels/softmax_online.cu 1
    const float greatest = fmaxf(a.greatest, b.greatest);
    return {greatest, a.total + b.total * expf(b.greatest - greatest)};

// --- scaled-the-wrong-way
// The sums grow when the maximum grows.
// region: labs/06-cuda-kernels/softmax_online.cu 1
    const float greatest = fmaxf(a.greatest, b.greatest);
    return {greatest, a.total * expf(greatest - a.greatest) +
                          b.total * expf(greatest - b.greatest)};

// --- shuffle-down
// Only lane 0 gets the sum of all lanes.
// region: labs/06-cuda-kernels/softmax_online.cu 2
    for (int64_t j = lane; j < cols; j += kWarpSize) all = merge(all, {x[j], 1.0f});
    for (int step = kWarpSize / 2; step > 0; step /= 2)
        all = merge(all, {__shfl_down_sync(kAllLanes, all.greatest, step),
                          __shfl_down_sync(kAllLanes, all.total, step)});
    const float log_total = logf(all.total);
    for (int64_t j = lane; j < cols; j += kWarpSize)
        y[j] = x[j] - all.greatest - log_total;

// --- warps-only
// Only a warp is reduced, even if a block has the row.
// region: libmini/kernels/cuda/softmax.cu
    float greatest = -INFINITY;
    for (int64_t j = lane; j < cols; j += kTeam) greatest = fmaxf(greatest, x[j]);
    greatest = warp_reduce(greatest, Max());
    float total = 0.0f;
    for (int64_t j = lane; j < cols; j += kTeam) total += expf(x[j] - greatest);
    const float log_total = logf(warp_reduce(total, Sum()));
    for (int64_t j = lane; j < cols; j += kTeam) y[j] = x[j] - greatest - log_total;
