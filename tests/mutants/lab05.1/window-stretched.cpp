// The stride moves the elements of the window apart, not the window.
// region: libmini/kernels/cpu/conv_im2col.cpp 1
    for (int64_t c = 0; c < C; ++c)
        for (int64_t i = 0; i < Ho; ++i)
            for (int64_t p = 0; p < kernel; ++p)
                for (int64_t q = 0; q < kernel; ++q) {
                    float* to = col + ((c * kernel + p) * kernel + q) * M + i * Wo;
                    const float* from = x + (c * H + i + p * stride) * W + q * stride;
                    for (int64_t j = 0; j < Wo; ++j) to[j] = from[j];
                }
