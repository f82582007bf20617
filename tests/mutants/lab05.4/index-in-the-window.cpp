// The index counts from the front of the window, not of the plane.
// region: libmini/kernels/cpu/pool.cpp 1
    for (int64_t h = top; h < bottom; ++h)
        for (int64_t w = left; w < right; ++w)
            greatest.offer(x[h * W + w],
                           static_cast<int32_t>((h - top) * W + (w - left)));
