// The rows of a window end where the columns of the plane end.
// region: libmini/kernels/cpu/pool.cpp 2
    for (int64_t i = 0; i < Ho; ++i)
        for (int64_t j = 0; j < Wo; ++j) {
            const int64_t h = i * window.stride - window.padding;
            const int64_t w = j * window.stride - window.padding;
            const auto [value, index] =
                greatest_of(x, W, std::max<int64_t>(h, 0), std::min(h + window.kernel, W),
                            std::max<int64_t>(w, 0), std::min(w + window.kernel, W));
            y[i * Wo + j] = value;
            indices[i * Wo + j] = index;
        }
