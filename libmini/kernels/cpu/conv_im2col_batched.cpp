// Convolution as a product of matrices with less copying than in conv_im2col.cpp.
//
// - At stride 1 the rows of col of (c, p - 1, q) and (c, p, q) are equal but for a shift
//   by one image row, so a row is one long copy of another.
// - For a 1 x 1 kernel with stride 1 and no padding, col equals the image, and nothing is
//   copied.
// - A product first packs a copy of the weights, even for few columns. So several small
//   images share one col with images * M columns: on 8 images of 64 x 64, ResNet-18 spent
//   a third of its time on these copies.

#include "libmini/kernels/cpu/conv_im2col_batched.hpp"

#include <algorithm>
#include <cstdint>
#include <memory>

#include "libmini/core/parallel.hpp"
#include "libmini/kernels/cpu/border.hpp"
#include "libmini/kernels/cpu/conv_im2col.hpp"
#include "libmini/kernels/cpu/scratch.hpp"
#include "libmini/kernels/kernels.hpp"

namespace mini::kernels::cpu::im2col_batched {
namespace {

using im2col::kImagesPerChunk;

constexpr int64_t kColumnsPerProduct = 64;  // maximum for several images per product

// The extents of a convolution of some images that share col.
struct Lowering : im2col::Lowering {
    int64_t images = 1;

    using im2col::Lowering::Lowering;

    // Whether col equals the image.
    bool is_identity() const {
        return kernel == 1 && stride == 1 && padding == 0 && images == 1;
    }

    // The number of columns of col.
    int64_t columns() const { return images * M; }

    // The offset in col of the row of window element (c, p, q).
    int64_t row(int64_t c, int64_t p, int64_t q) const {
        return ((c * kernel + p) * kernel + q) * columns();
    }

    // The offset in the image of the first element of the row of (c, p, q).
    int64_t source(int64_t c, int64_t p, int64_t q) const { return (c * H + p) * W + q; }
};

// Writes one row of col: the element of x under window element (c, p, q), for each output
// position.
//
// At stride 1 this row of col equals the row of (c, p - 1, q) shifted by one image row,
// so one long copy replaces Ho - 1 short copies (for an image of 10 x 12 x 12: 1.6 us
// instead of 3.6 us).
void gather_row(float* row, const float* x, int64_t p, const Lowering& lowering) {
    int64_t i = 0;
    if (lowering.stride == 1 && p > 0) {
        const float* above = row - lowering.kernel * lowering.columns();
        std::copy(above + lowering.Wo, above + lowering.M, row);
        i = lowering.Ho - 1;
    }
    for (; i < lowering.Ho; ++i) {
        const float* from = x + i * lowering.stride * lowering.W;
        float* to = row + i * lowering.Wo;
        if (lowering.stride == 1)
            std::copy(from, from + lowering.Wo, to);
        else
            for (int64_t j = 0; j < lowering.Wo; ++j) to[j] = from[j * lowering.stride];
    }
}

void im2col(float* col, const float* bordered, const Lowering& lowering) {
    for (int64_t c = 0; c < lowering.C; ++c)
        for (int64_t p = 0; p < lowering.kernel; ++p)
            for (int64_t q = 0; q < lowering.kernel; ++q)
                gather_row(col + lowering.row(c, p, q),
                           bordered + lowering.source(c, p, q), p, lowering);
}

// x[j * step] += row[j].
void add_to(float* __restrict x, const float* __restrict row, int64_t n, int64_t step) {
    if (step == 1)  // a separate loop, which the compiler can vectorise
        for (int64_t j = 0; j < n; ++j) x[j] += row[j];
    else
        for (int64_t j = 0; j < n; ++j) x[j * step] += row[j];
}

// Adds the row of (c, p, q) to x, the reverse of gather_row. At stride 1 adds most of the
// row to the row of (c, p - 1, q), shifted by one image row; col2im adds that row to x
// later.
void scatter_row(float* x, float* row, int64_t p, const Lowering& lowering) {
    int64_t i = 0;
    if (lowering.stride == 1 && p > 0) {
        float* above = row - lowering.kernel * lowering.columns();
        add_to(above + lowering.Wo, row, lowering.M - lowering.Wo, 1);
        i = lowering.Ho - 1;
    }
    for (; i < lowering.Ho; ++i)
        add_to(x + i * lowering.stride * lowering.W, row + i * lowering.Wo, lowering.Wo,
               lowering.stride);
}

// Sets each element of bordered to the sum of the elements of col that were copied from
// it. Overwrites col.
void col2im(float* bordered, float* col, const Lowering& lowering) {
    std::fill_n(bordered, lowering.image().outer_size(), 0.0f);
    for (int64_t c = 0; c < lowering.C; ++c)
        for (int64_t p = lowering.kernel; p-- > 0;)
            for (int64_t q = 0; q < lowering.kernel; ++q)
                scatter_row(bordered + lowering.source(c, p, q),
                            col + lowering.row(c, p, q), p, lowering);
}

// Calls work(n, group) for each group of images n to n + group.images - 1.
template <typename Work>
void for_each_group(int64_t begin, int64_t end, const Lowering& lowering,
                    const Work& work) {
    const int64_t max_images =
        std::max<int64_t>(1, kColumnsPerProduct / std::max<int64_t>(1, lowering.M));
    for (int64_t n = begin; n < end; n += max_images) {
        Lowering group = lowering;
        group.images = std::min(max_images, end - n);
        work(n, group);
    }
}

// Computes the columns of images (N, C, H, W), one group at a time.
class Columns {
  public:
    Columns(const float* x, const Lowering& lowering)
        : images_(x, 1, lowering.image()), lowering_(lowering) {}

    // Returns the columns (K, images M) of the group that begins with image n; the
    // pointer is valid until the next call.
    const float* of_images(int64_t n, const Lowering& group) {
        if (group.is_identity()) return images_.range(n, n + 1);
        if (!col_) col_ = scratch(lowering_.K * group.columns());  // no group is larger
        for (int64_t i = 0; i < group.images; ++i)
            im2col(col_.get() + i * lowering_.M, images_.range(n + i, n + i + 1), group);
        return col_.get();
    }

  private:
    BorderedImages images_;
    const Lowering& lowering_;
    std::unique_ptr<float[]> col_;
};

// Returns g (images, O, M) as one matrix (O, images M): g itself for one image, else a
// copy in `joined`.
const float* join(std::unique_ptr<float[]>& joined, const float* g, int64_t O,
                  const Lowering& group) {
    if (group.images == 1) return g;
    if (!joined) joined = scratch(O * group.columns());
    for (int64_t i = 0; i < group.images; ++i)
        for (int64_t o = 0; o < O; ++o, g += group.M)
            std::copy(g, g + group.M, joined.get() + o * group.columns() + i * group.M);
    return joined.get();
}

// The reverse of join: y (images, O, M) = joined (O, images M).
void split(float* y, const float* joined, int64_t O, const Lowering& group) {
    for (int64_t i = 0; i < group.images; ++i)
        for (int64_t o = 0; o < O; ++o, y += group.M) {
            const float* row = joined + o * group.columns() + i * group.M;
            std::copy(row, row + group.M, y);
        }
}

}  // namespace

bool fits(const ImageExtents& in, const Window& window) {
    const int64_t positions = window.output(in.H) * window.output(in.W);
    return window.stride == 1 || 2 * positions <= kColumnsPerProduct;
}

void conv2d(float* y, const float* x, const float* w, const float* bias, ImageExtents in,
            int64_t O, Window window) {
    const Lowering lowering(in, window);
    parallel_for(in.N, kImagesPerChunk, [&](int64_t begin, int64_t end) {
        Columns columns(x, lowering);
        std::unique_ptr<float[]> joined;
        for_each_group(begin, end, lowering, [&](int64_t n, const Lowering& group) {
            if (group.images > 1 && !joined) joined = scratch(O * group.columns());
            float* out = group.images > 1 ? joined.get() : y + n * O * lowering.M;
            for (int64_t o = 0; o < O; ++o)
                std::fill_n(out + o * group.columns(), group.columns(),
                            bias ? bias[o] : 0.0f);
            matmul(out, w, columns.of_images(n, group), O, group.columns(), lowering.K,
                   {.accumulate = true});
            if (group.images > 1) split(y + n * O * lowering.M, out, O, group);
        });
    });
}

void backward_input(float* dx, const float* g, const float* w, ImageExtents in, int64_t O,
                    Window window) {
    const Lowering lowering(in, window);
    const int64_t image_size = in.C * in.H * in.W;
    parallel_for(in.N, kImagesPerChunk, [&](int64_t begin, int64_t end) {
        std::unique_ptr<float[]> dcol, joined;
        BorderedGradient gradient(lowering.image());
        for_each_group(begin, end, lowering, [&](int64_t n, const Lowering& group) {
            float* image = dx + n * image_size;
            const bool in_place = group.is_identity();
            if (!dcol && !in_place) dcol = scratch(lowering.K * group.columns());
            matmul(in_place ? image : dcol.get(), w,
                   join(joined, g + n * O * lowering.M, O, group), lowering.K,
                   group.columns(), O, {.transpose_a = true});
            if (in_place) return;
            for (int64_t i = 0; i < group.images; ++i, image += image_size) {
                col2im(gradient.memory_for(image), dcol.get() + i * lowering.M, group);
                gradient.finish(image);
            }
        });
    });
}

void backward_weight(float* dw, const float* g, const float* x, ImageExtents in,
                     int64_t O, Window window) {
    const Lowering lowering(in, window);

    // Sum the images of each chunk, then the chunks in a fixed order: the result does not
    // depend on the number of threads.
    const int64_t chunks = (in.N + kImagesPerChunk - 1) / kImagesPerChunk;
    const auto partial = scratch(chunks * O * lowering.K);
    parallel_for(in.N, kImagesPerChunk, [&](int64_t begin, int64_t end) {
        Columns columns(x, lowering);
        float* out = partial.get() + begin / kImagesPerChunk * O * lowering.K;
        std::unique_ptr<float[]> joined;
        for_each_group(begin, end, lowering, [&](int64_t n, const Lowering& group) {
            matmul(out, join(joined, g + n * O * lowering.M, O, group),
                   columns.of_images(n, group), O, lowering.K, group.columns(),
                   {.transpose_b = true, .accumulate = n > begin});
        });
    });
    sum(dw, partial.get(), 1, chunks, O * lowering.K);
}

}  // namespace mini::kernels::cpu::im2col_batched
