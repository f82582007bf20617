// The exponentials are of x itself.
// region: libmini/kernels/cuda/softmax.cu
    const float greatest = 0.0f;
    float total = 0.0f;
    for (int64_t j = lane; j < cols; j += kTeam) total += expf(x[j] - greatest);
    const float log_total = logf(team_reduce<kTeam>(total, Sum()));
    for (int64_t j = lane; j < cols; j += kTeam) y[j] = x[j] - greatest - log_total;
