// Of equal elements the first in column-major order wins.
// region: libmini/kernels/cpu/pool.cpp 1
    for (int64_t w = left; w < right; ++w)
        for (int64_t h = top; h < bottom; ++h)
            greatest.offer(x[h * W + w], static_cast<int32_t>(h * W + w));
