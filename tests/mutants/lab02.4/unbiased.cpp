// The squares are divided by the number of elements minus one.
// region: libmini/kernels/cpu/norm.cpp 1
    const double m =
        sum_channel(extents, c, [&](int64_t k) { return double{x[k]}; }) / count;
    const double squares = sum_channel(extents, c, [&](int64_t k) {
        const double distance = double{x[k]} - m;
        return distance * distance;
    });
    mean[c] = static_cast<float>(m);
    variance[c] = static_cast<float>(squares / (count - 1));
