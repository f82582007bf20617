// Columns are visited one after another, so another of equal elements wins.
// region: libmini/kernels/cpu/pool.cpp 1
    for (int64_t w = left; w < right; ++w)
        for (int64_t h = bottom; h-- > top;)
            greatest.offer(x[h * W + w], static_cast<int32_t>(h * W + w));
