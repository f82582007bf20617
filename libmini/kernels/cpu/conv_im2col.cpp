#include "libmini/kernels/cpu/conv_im2col.hpp"

#include <algorithm>
#include <cstdint>

#include "libmini/core/error.hpp"
#include "libmini/core/parallel.hpp"
#include "libmini/kernels/cpu/scratch.hpp"
#include "libmini/kernels/kernels.hpp"

// [lab05 file]
namespace mini::kernels::cpu::im2col {
namespace {

// Images that a thread processes together: the gradient of w sums this many first.
constexpr int64_t kImagesPerChunk = 8;

// Calls run(at, x_at, n) for each run of n elements of col, from col[at] on, that im2col
// copies from x[x_at], x[x_at + stride], ...; leaves out the elements in the padding.
template <typename Run>
void for_each_run(const ImageExtents& in, const Window& window, const Run& run) {
    const auto [kernel, stride, padding] = window;
    const int64_t Ho = window.output(in.H), Wo = window.output(in.W);
    // [lab05.1] Find the run of each channel, row of outputs, and element of the window.
    for (int64_t c = 0; c < in.C; ++c)
        for (int64_t i = 0; i < Ho; ++i)
            for (int64_t p = 0; p < kernel; ++p) {
                const int64_t h = i * stride + p - padding;
                if (h < 0 || h >= in.H) continue;
                for (int64_t q = 0; q < kernel; ++q) {
                    const int64_t left = q - padding;  // the column for j = 0
                    const bool fits = left + (Wo - 1) * stride < in.W;
                    const int64_t begin = left < 0 ? (stride - 1 - left) / stride : 0;
                    const int64_t end = fits ? Wo : (in.W - left + stride - 1) / stride;
                    run(((c * kernel + p) * kernel + q) * Ho * Wo + i * Wo + begin,
                        (c * in.H + h) * in.W + left + begin * stride, end - begin);
                }
            }
    // [lab05.1]
}

}  // namespace

void im2col(float* col, const float* x, ImageExtents in, Window window) {
    // [lab05.1] Copy each run; what is in the padding is 0.
    const int64_t K = in.C * window.kernel * window.kernel;
    const int64_t M = window.output(in.H) * window.output(in.W);
    if (window.padding > 0) std::fill_n(col, K * M, 0.0f);
    for_each_run(in, window, [&](int64_t at, int64_t x_at, int64_t n) {
        for (int64_t j = 0; j < n; ++j) col[at + j] = x[x_at + j * window.stride];
    });
    // [lab05.1]
}

void col2im(float* dx, const float* dcol, ImageExtents in, Window window) {
    // [lab05.1] Add each element of dcol to the element from which im2col copies.
    std::fill_n(dx, in.C * in.H * in.W, 0.0f);
    for_each_run(in, window, [&](int64_t at, int64_t x_at, int64_t n) {
        for (int64_t j = 0; j < n; ++j) dx[x_at + j * window.stride] += dcol[at + j];
    });
    // [lab05.1]
}

void conv2d(float* y, const float* x, const float* w, const float* bias, ImageExtents in,
            int64_t O, Window window) {
    const int64_t K = in.C * window.kernel * window.kernel;
    const int64_t M = window.output(in.H) * window.output(in.W);
    parallel_for(in.N, kImagesPerChunk, [&](int64_t begin, int64_t end) {
        const auto col = scratch(K * M);
        for (int64_t n = begin; n < end; ++n) {
            float* const out = y + n * O * M;
            // [lab05.2] Set each output to the bias, then add the product.
            im2col(col.get(), x + n * in.C * in.H * in.W, in, window);
            for (int64_t o = 0; o < O; ++o)
                std::fill_n(out + o * M, M, bias ? bias[o] : 0.0f);
            matmul(out, w, col.get(), O, M, K, {.accumulate = true});
            // [lab05.2]
        }
    });
}

void backward_input(float* dx, const float* g, const float* w, ImageExtents in, int64_t O,
                    Window window) {
    const int64_t K = in.C * window.kernel * window.kernel;
    const int64_t M = window.output(in.H) * window.output(in.W);
    parallel_for(in.N, kImagesPerChunk, [&](int64_t begin, int64_t end) {
        const auto dcol = scratch(K * M);
        for (int64_t n = begin; n < end; ++n) {
            // [lab05.2] Compute dcol, and add its columns up in the image.
            matmul(dcol.get(), w, g + n * O * M, K, M, O, {.transpose_a = true});
            col2im(dx + n * in.C * in.H * in.W, dcol.get(), in, window);
            // [lab05.2]
        }
    });
}

void backward_weight(float* dw, const float* g, const float* x, ImageExtents in,
                     int64_t O, Window window) {
    const int64_t K = in.C * window.kernel * window.kernel;
    const int64_t M = window.output(in.H) * window.output(in.W);

    // Sum the images of each chunk, then the chunks in a fixed order: the result does not
    // depend on the number of threads.
    const int64_t chunks = (in.N + kImagesPerChunk - 1) / kImagesPerChunk;
    const auto partial = scratch(chunks * O * K);
    parallel_for(in.N, kImagesPerChunk, [&](int64_t begin, int64_t end) {
        const auto col = scratch(K * M);
        float* const out = partial.get() + begin / kImagesPerChunk * O * K;
        for (int64_t n = begin; n < end; ++n) {
            // [lab05.2] Add the image's product to the sum of its chunk.
            im2col(col.get(), x + n * in.C * in.H * in.W, in, window);
            matmul(out, g + n * O * M, col.get(), O, K, M,
                   {.transpose_b = true, .accumulate = n > begin});
            // [lab05.2]
        }
    });
    sum(dw, partial.get(), 1, chunks, O * K);
}

}  // namespace mini::kernels::cpu::im2col
// [lab05 file]
