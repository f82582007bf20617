// Only the sum of b is scaled.
// region: libmini/kernels/cuda/softmax_online.cu 1
    const float greatest = fmaxf(a.greatest, b.greatest);
    return {greatest, a.total + b.total * expf(b.greatest - greatest)};
