// The sums grow when the maximum grows.
// region: libmini/kernels/cuda/softmax_online.cu 1
    const float greatest = fmaxf(a.greatest, b.greatest);
    return {greatest, a.total * expf(greatest - a.greatest) +
                          b.total * expf(greatest - b.greatest)};
