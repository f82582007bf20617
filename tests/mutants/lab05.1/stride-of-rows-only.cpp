// The way back has the stride between rows, but not within a row.
// region: libmini/kernels/cpu/conv_im2col.cpp 2
    std::fill_n(dx, C * H * W, 0.0f);
    for (int64_t c = 0; c < C; ++c)
        for (int64_t i = 0; i < Ho; ++i)
            for (int64_t p = 0; p < kernel; ++p)
                for (int64_t q = 0; q < kernel; ++q) {
                    float* to = dx + (c * H + i * stride + p) * W + q;
                    const float* from =
                        dcol + ((c * kernel + p) * kernel + q) * M + i * Wo;
                    for (int64_t j = 0; j < Wo; ++j) to[j] += from[j];
                }
