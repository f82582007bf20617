// Only a warp is reduced, even if a block has the row.
// region: libmini/kernels/cuda/softmax.cu
    float greatest = -INFINITY;
    for (int64_t j = lane; j < cols; j += kTeam) greatest = fmaxf(greatest, x[j]);
    greatest = warp_reduce(greatest, Max());
    float total = 0.0f;
    for (int64_t j = lane; j < cols; j += kTeam) total += expf(x[j] - greatest);
    const float log_total = logf(warp_reduce(total, Sum()));
    for (int64_t j = lane; j < cols; j += kTeam) y[j] = x[j] - greatest - log_total;
