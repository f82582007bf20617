// The border is already there, and is added a second time.
// region: libmini/kernels/cpu/conv_im2col.cpp 1
    for (int64_t c = 0; c < C; ++c)
        for (int64_t i = 0; i < Ho; ++i)
            for (int64_t p = 0; p < kernel; ++p)
                for (int64_t q = 0; q < kernel; ++q) {
                    float* to = col + ((c * kernel + p) * kernel + q) * M + i * Wo;
                    for (int64_t j = 0; j < Wo; ++j) {
                        const int64_t h = i * stride + p - padding;
                        const int64_t w = j * stride + q - padding;
                        const bool inside = h >= 0 && h < H && w >= 0 && w < W;
                        to[j] = inside ? x[(c * H + h) * W + w] : 0.0f;
                    }
                }
