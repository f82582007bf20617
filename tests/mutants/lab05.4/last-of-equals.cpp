// The last of equal elements wins, and NaN never.
// region: libmini/kernels/cpu/pool.cpp 1
    for (int64_t h = top; h < bottom; ++h)
        for (int64_t w = left; w < right; ++w)
            if (x[h * W + w] >= greatest.value)
                greatest = {x[h * W + w], static_cast<int32_t>(h * W + w)};
