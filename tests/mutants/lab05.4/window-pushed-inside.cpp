// A window over the padding is moved into the plane instead of being cut off.
// region: libmini/kernels/cpu/pool.cpp 2
    for (int64_t i = 0; i < Ho; ++i)
        for (int64_t j = 0; j < Wo; ++j) {
            const int64_t h = std::max<int64_t>(i * window.stride - window.padding, 0);
            const int64_t w = std::max<int64_t>(j * window.stride - window.padding, 0);
            const auto [value, index] =
                greatest_of(x, W, h, std::min(h + window.kernel, H), w,
                            std::min(w + window.kernel, W));
            y[i * Wo + j] = value;
            indices[i * Wo + j] = index;
        }
