// --- last-window-only
// Of the windows that overlap only the last counts.
// region: libmini/kernels/cpu/conv_im2col.cpp 2
    std::fill_n(dx, C * H * W, 0.0f);
    for (int64_t c = 0; c < C; ++c)
        for (int64_t i = 0; i < Ho; ++i)
            for (int64_t p = 0; p < kernel; ++p)
                for (int64_t q = 0; q < kernel; ++q) {
                    float* to = dx + (c * H + i * stride + p) * W + q;
                    const float* from =
                        dcol + ((c * kernel + p) * kernel + q) * M + i * Wo;
                    for (int64_t j = 0; j < Wo; ++j) to[j * stride] = from[j];
                }

// --- not-cleared
// dx is added to, whatever it was.
// region: libmini/kernels/cpu/conv_im2col.cpp 2
    for (int64_t c = 0; c < C; ++c)
        for (int64_t i = 0; i < Ho; ++i)
            for (int64_t p = 0; p < kernel; ++p)
                for (int64_t q = 0; q < kernel; ++q) {
                    float* to = dx + (c * H + i * stride + p) * W + q;
                    const float* from =
                        dcol + ((c * kernel + p) * kernel + q) * M + i * Wo;
                    for (int64_t j = 0; j < Wo; ++j) to[j * stride] += from[j];
                }

// --- one-row-per-position
// col is (M, K): each window is a row.
// region: libmini/kernels/cpu/conv_im2col.cpp 1
    for (int64_t c = 0; c < C; ++c)
        for (int64_t i = 0; i < Ho; ++i)
            for (int64_t p = 0; p < kernel; ++p)
                for (int64_t q = 0; q < kernel; ++q) {
                    float* to = col + i * Wo * K + (c * kernel + p) * kernel + q;
                    const float* from = x + (c * H + i * stride + p) * W + q;
                    for (int64_t j = 0; j < Wo; ++j) to[j * K] = from[j * stride];
                }

// --- padding-once-more
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

// --- rows-by-column
// Rows of col go down the columns of the window instead of along its rows.
// region: libmini/kernels/cpu/conv_im2col.cpp 1
    for (int64_t c = 0; c < C; ++c)
        for (int64_t i = 0; i < Ho; ++i)
            for (int64_t p = 0; p < kernel; ++p)
                for (int64_t q = 0; q < kernel; ++q) {
                    float* to = col + ((c * kernel + q) * kernel + p) * M + i * Wo;
                    const float* from = x + (c * H + i * stride + p) * W + q;
                    for (int64_t j = 0; j < Wo; ++j) to[j] = from[j * stride];
                }

// --- stride-of-rows-only
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

// --- window-stretched
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
