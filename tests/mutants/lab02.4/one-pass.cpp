// The mean of the squares minus the square of the mean.
// region: libmini/kernels/cpu/norm.cpp 1
    const double m =
        sum_channel(extents, c, [&](int64_t k) { return double{x[k]}; }) / count;
    const double squares =
        sum_channel(extents, c, [&](int64_t k) { return double{x[k]} * double{x[k]}; });
    mean[c] = static_cast<float>(m);
    variance[c] = static_cast<float>(squares / count - m * m);
