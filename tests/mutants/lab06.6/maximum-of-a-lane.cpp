// Each lane subtracts the maximum of its own elements.
// region: libmini/kernels/cuda/softmax.cu
    float greatest = -INFINITY;
    for (int64_t j = lane; j < cols; j += kTeam) greatest = fmaxf(greatest, x[j]);
    float total = 0.0f;
    for (int64_t j = lane; j < cols; j += kTeam) total += expf(x[j] - greatest);
    const float log_total = logf(team_reduce<kTeam>(total, Sum()));
    for (int64_t j = lane; j < cols; j += kTeam) y[j] = x[j] - greatest - log_total;
