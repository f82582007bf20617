#include "libmini/kernels/cpu/conv_im2col.hpp"

#include <algorithm>
#include <cstdint>
#include <memory>

#include "libmini/core/error.hpp"
#include "libmini/core/parallel.hpp"
#include "libmini/kernels/cpu/scratch.hpp"
#include "libmini/kernels/kernels.hpp"

namespace mini::kernels::cpu::im2col {
namespace {

// The memory of one thread: the columns of an image, and the image with its border.
class Workspace {
  public:
    explicit Workspace(const Lowering& lowering)
        : image_(lowering.image()),
          col_(scratch(lowering.K * lowering.M)),
          bordered_(scratch(image_.border > 0 ? image_.outer_size() : 0)) {}

    float* col() { return col_.get(); }  // (K, M)

    // Returns image x with its border: x itself if there is none.
    const float* with_border(const float* x) {
        if (image_.border == 0) return x;
        add_border(bordered_.get(), x, image_);
        return bordered_.get();
    }

    // Returns the memory for a gradient with its border: dx itself if there is none.
    float* border_of(float* dx) { return image_.border == 0 ? dx : bordered_.get(); }

    // Sets image dx to the middle of border_of(dx).
    void remove_border_of(float* dx) {
        if (image_.border > 0) remove_border(dx, bordered_.get(), image_);
    }

  private:
    Bordered image_;
    std::unique_ptr<float[]> col_, bordered_;
};

}  // namespace

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
        Workspace workspace(lowering);
        float* const col = workspace.col();
        for (int64_t n = begin; n < end; ++n) {
            const float* image = workspace.with_border(x + n * in.C * in.H * in.W);
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
        Workspace workspace(lowering);
        float* const dcol = workspace.col();
        for (int64_t n = begin; n < end; ++n) {
            const float* grad = g + n * O * M;
            float* to = dx + n * in.C * in.H * in.W;
            float* image = workspace.border_of(to);
            // [lab05.2] Compute dcol, and add its columns up in the image.
            matmul(dcol, w, grad, K, M, O, {.transpose_a = true});
            col2im(image, dcol, lowering);
            // [lab05.2]
            workspace.remove_border_of(to);
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
        Workspace workspace(lowering);
        float* const col = workspace.col();
        float* out = partial.get() + begin / kImagesPerChunk * O * K;
        for (int64_t n = begin; n < end; ++n) {
            const float* grad = g + n * O * M;
            const float* image = workspace.with_border(x + n * in.C * in.H * in.W);
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
