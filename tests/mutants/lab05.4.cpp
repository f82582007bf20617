// --- cleared-as-far-as-outputs
// As many elements are set to 0 as there are outputs.
// region: libmini/kernels/cpu/pool.cpp 3
    std::fill_n(dx, outputs, 0.0f);
    for (int64_t k = 0; k < outputs; ++k) dx[indices[k]] += g[k];

// --- column-by-column
// Of equal elements the first in column-major order wins.
// region: libmini/kernels/cpu/pool.cpp 1
    for (int64_t w = left; w < right; ++w)
        for (int64_t h = top; h < bottom; ++h)
            greatest.offer(x[h * W + w], static_cast<int32_t>(h * W + w));

// --- index-in-the-window
// The index counts from the front of the window, not of the plane.
// region: libmini/kernels/cpu/pool.cpp 1
    for (int64_t h = top; h < bottom; ++h)
        for (int64_t w = left; w < right; ++w)
            greatest.offer(x[h * W + w],
                           static_cast<int32_t>((h - top) * W + (w - left)));

// --- kernel-for-stride
// Windows are as far apart as they are large.
// region: libmini/kernels/cpu/pool.cpp 2
    for (int64_t i = 0; i < Ho; ++i)
        for (int64_t j = 0; j < Wo; ++j) {
            const int64_t h = i * window.kernel - window.padding;
            const int64_t w = j * window.kernel - window.padding;
            const auto [value, index] =
                greatest_of(x, W, std::max<int64_t>(h, 0), std::min(h + window.kernel, H),
                            std::max<int64_t>(w, 0), std::min(w + window.kernel, W));
            y[i * Wo + j] = value;
            indices[i * Wo + j] = index;
        }

// --- last-of-equals
// The last of equal elements wins, and NaN never.
// region: libmini/kernels/cpu/pool.cpp 1
    for (int64_t h = top; h < bottom; ++h)
        for (int64_t w = left; w < right; ++w)
            if (x[h * W + w] >= greatest.value)
                greatest = {x[h * W + w], static_cast<int32_t>(h * W + w)};

// --- last-window-only
// Of the windows that an element won only the last counts.
// region: libmini/kernels/cpu/pool.cpp 3
    std::fill_n(dx, H * W, 0.0f);
    for (int64_t k = 0; k < outputs; ++k) dx[indices[k]] = g[k];

// --- rows-end-with-columns
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

// --- window-pushed-inside
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
