// The distances are from the mean that was rounded to float.
// region: libmini/kernels/cpu/norm.cpp 1
    mean[c] = static_cast<float>(
        sum_channel(extents, c, [&](int64_t k) { return double{x[k]}; }) / count);
    const double squares = sum_channel(extents, c, [&](int64_t k) {
        const double distance = double{x[k]} - double{mean[c]};
        return distance * distance;
    });
    variance[c] = static_cast<float>(squares / count);
