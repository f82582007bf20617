#include "libmini/kernels/cpu/conv_im2col.hpp"

#include <algorithm>
#include <cstdint>

#include "libmini/core/error.hpp"
#include "libmini/core/parallel.hpp"
#include "libmini/kernels/cpu/border.hpp"
#include "libmini/kernels/cpu/scratch.hpp"
#include "libmini/kernels/kernels.hpp"

namespace mini::kernels::cpu::im2col {

void im2col(float* col, const float* x, const Lowering& lowering) {
    const auto& [C, H, W, kernel, stride, padding, Ho, Wo, K, M] = lowering;
    // [lab05.1] Copy the elements under each window to its column.
    for (int64_t c = 0; c < C; ++c)
        for (int64_t i = 0; i < Ho; ++i)
            for (int64_t p = 0; p < kernel; ++p)
                for (int64_t q = 0; q < kernel; ++q) {
                    float* to = col + ((c * kernel + p) * kernel + q) * M + i * Wo;
                    const float* from = x + (c * H + i * stride + p) * W + q;
                    for (int64_t j = 0; j < Wo; ++j) to[j] = from[j * stride];
                }
    // [lab05.1]
}

void col2im(float* dx, const float* dcol, const Lowering& lowering) {
    const auto& [C, H, W, kernel, stride, padding, Ho, Wo, K, M] = lowering;
    // [lab05.1] Add each element to the element from which im2col copies.
    std::fill_n(dx, C * H * W, 0.0f);
    for (int64_t c = 0; c < C; ++c)
        for (int64_t i = 0; i < Ho; ++i)
            for (int64_t p = 0; p < kernel; ++p)
                for (int64_t q = 0; q < kernel; ++q) {
                    float* to = dx + (c * H + i * stride + p) * W + q;
                    const float* from =
                        dcol + ((c * kernel + p) * kernel + q) * M + i * Wo;
                    for (int64_t j = 0; j < Wo; ++j) to[j * stride] += from[j];
                }
    // [lab05.1]
}

void conv2d(float* y, const float* x, const float* w, const float* bias, ImageExtents in,
            int64_t O, Window window) {
    const Lowering lowering(in, window);
    const int64_t K = lowering.K, M = lowering.M;
    parallel_for(in.N, kImagesPerChunk, [&](int64_t begin, int64_t end) {
        BorderedImages images(x, 1, lowering.image());
        const auto memory = scratch(K * M);
        float* const col = memory.get();
        for (int64_t n = begin; n < end; ++n) {
            const float* image = images.range(n, n + 1);
            float* out = y + n * O * M;
            // [lab05.2] Set each output to the bias, then add the product.
            im2col(col, image, lowering);
            for (int64_t o = 0; o < O; ++o)
                std::fill_n(out + o * M, M, bias ? bias[o] : 0.0f);
            matmul(out, w, col, O, M, K, {.accumulate = true});
            // [lab05.2]
        }
    });
}

void backward_input(float* dx, const float* g, const float* w, ImageExtents in, int64_t O,
                    Window window) {
    const Lowering lowering(in, window);
    const int64_t K = lowering.K, M = lowering.M;
    parallel_for(in.N, kImagesPerChunk, [&](int64_t begin, int64_t end) {
        BorderedGradient gradient(lowering.image());
        const auto memory = scratch(K * M);
        float* const dcol = memory.get();
        for (int64_t n = begin; n < end; ++n) {
            const float* grad = g + n * O * M;
            float* to = dx + n * in.C * in.H * in.W;
            float* image = gradient.memory_for(to);
            // [lab05.2] Compute dcol, and add its columns up in the image.
            matmul(dcol, w, grad, K, M, O, {.transpose_a = true});
            col2im(image, dcol, lowering);
            // [lab05.2]
            gradient.finish(to);
        }
    });
}

void backward_weight(float* dw, const float* g, const float* x, ImageExtents in,
                     int64_t O, Window window) {
    const Lowering lowering(in, window);
    const int64_t K = lowering.K, M = lowering.M;

    // Sum the images of each chunk, then the chunks in a fixed order: the result does not
    // depend on the number of threads.
    const int64_t chunks = (in.N + kImagesPerChunk - 1) / kImagesPerChunk;
    const auto partial = scratch(chunks * O * K);
    parallel_for(in.N, kImagesPerChunk, [&](int64_t begin, int64_t end) {
        BorderedImages images(x, 1, lowering.image());
        const auto memory = scratch(K * M);
        float* const col = memory.get();
        float* out = partial.get() + begin / kImagesPerChunk * O * K;
        for (int64_t n = begin; n < end; ++n) {
            const float* grad = g + n * O * M;
            const float* image = images.range(n, n + 1);
            // [lab05.2] Add the image's product to the sum of its chunk.
            im2col(col, image, lowering);
            matmul(out, grad, col, O, K, M,
                   {.transpose_b = true, .accumulate = n > begin});
            // [lab05.2]
        }
    });
    sum(dw, partial.get(), 1, chunks, O * K);
}

}  // namespace mini::kernels::cpu::im2col
