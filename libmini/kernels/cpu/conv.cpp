// Convolution as a product of matrices.
//
// im2col writes what the window sees at each place of the output into one column. With
// the weights as a matrix, each of the three convolutions is then one product an image:
//
//     forward            y (O, M)     =  w (O, K)   col (K, M)        K = C kernel kernel
//     gradient of x      dcol (K, M)  =  wᵀ (K, O)  g (O, M)          M = Ho Wo
//     gradient of w      dw (O, K)   +=  g (O, M)   colᵀ (M, K)
//
// and col2im adds the columns of dcol back to where im2col took them from. Padding is
// copied around the image first, so that neither has to think about borders. A window of
// one pixel at stride 1 sees the image as it is: col is the image, nothing is copied.
//
// Each product first copies the weights into an order of its own, however few the columns.
// So small images go side by side into one col, whose rows have images * M columns: on 8
// images of 64 x 64, ResNet-18 spent a third of its time on such copies.
//
// Chellapilla, Puri, Simard 2006, "High performance convolutional neural networks for
// document processing".

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "libmini/core/parallel.hpp"
#include "libmini/kernels/kernels.hpp"

namespace mini::kernels::cpu {
namespace {

constexpr int64_t kImagesPerChunk = 8;
constexpr int64_t kColumnsPerProduct = 64;  // so many, unless the chunk has fewer

// The extents of one image on its way through a convolution.
struct Lowering {
    int64_t C, H, W;  // the image with its border
    int64_t kernel, stride, padding;
    int64_t Ho, Wo;
    int64_t K, M;        // extents of col
    int64_t images = 1;  // side by side in col

    Lowering(const ImageExtents& in, const Window& window)
        : C(in.C),
          H(in.H + 2 * window.padding),
          W(in.W + 2 * window.padding),
          kernel(window.kernel),
          stride(window.stride),
          padding(window.padding),
          Ho(window.output(in.H)),
          Wo(window.output(in.W)),
          K(C * kernel * kernel),
          M(Ho * Wo) {}

    // Whether the columns of an image are the image itself.
    bool is_identity() const {
        return kernel == 1 && stride == 1 && padding == 0 && images == 1;
    }

    // The columns of all images.
    int64_t columns() const { return images * M; }

    int64_t bordered_size() const { return C * H * W; }
    int64_t inner_H() const { return H - 2 * padding; }
    int64_t inner_W() const { return W - 2 * padding; }

    // Where the row of window element (c, p, q) begins in col, and in the image.
    int64_t row(int64_t c, int64_t p, int64_t q) const {
        return ((c * kernel + p) * kernel + q) * columns();
    }
    int64_t source(int64_t c, int64_t p, int64_t q) const { return (c * H + p) * W + q; }
};

// Memory that is written before it is read.
std::unique_ptr<float[]> scratch(int64_t size) {
    return std::make_unique_for_overwrite<float[]>(static_cast<size_t>(size));
}

// bordered (C, H, W) = x in the middle of zeros.
void add_border(float* bordered, const float* x, const Lowering& at) {
    std::fill(bordered, bordered + at.bordered_size(), 0.0f);
    for (int64_t c = 0; c < at.C; ++c)
        for (int64_t h = 0; h < at.inner_H(); ++h, x += at.inner_W())
            std::copy(x, x + at.inner_W(),
                      bordered + (c * at.H + h + at.padding) * at.W + at.padding);
}

// The reverse: x = the middle of bordered.
void remove_border(float* x, const float* bordered, const Lowering& at) {
    for (int64_t c = 0; c < at.C; ++c)
        for (int64_t h = 0; h < at.inner_H(); ++h, x += at.inner_W()) {
            const float* row = bordered + (c * at.H + h + at.padding) * at.W + at.padding;
            std::copy(row, row + at.inner_W(), x);
        }
}

// One row of col: what window element (c, p, q) sees of x at each place of the output.
//
// At stride 1 it is the row of (c, p - 1, q) moved up by one image row, so that one long
// copy does for Ho - 1 short ones (1.6 for 3.6 us an image of 10 x 12 x 12).
void gather_row(float* row, const float* x, int64_t p, const Lowering& at) {
    int64_t i = 0;
    if (at.stride == 1 && p > 0) {
        const float* above = row - at.kernel * at.columns();
        std::copy(above + at.Wo, above + at.M, row);
        i = at.Ho - 1;
    }
    for (; i < at.Ho; ++i) {
        const float* from = x + i * at.stride * at.W;
        float* to = row + i * at.Wo;
        if (at.stride == 1)
            std::copy(from, from + at.Wo, to);
        else
            for (int64_t j = 0; j < at.Wo; ++j) to[j] = from[j * at.stride];
    }
}

void im2col(float* col, const float* bordered, const Lowering& at) {
    for (int64_t c = 0; c < at.C; ++c)
        for (int64_t p = 0; p < at.kernel; ++p)
            for (int64_t q = 0; q < at.kernel; ++q)
                gather_row(col + at.row(c, p, q), bordered + at.source(c, p, q), p, at);
}

// x[j * step] += row[j].
void add_to(float* __restrict x, const float* __restrict row, int64_t n, int64_t step) {
    if (step == 1)  // a loop of its own, which the compiler can vectorise
        for (int64_t j = 0; j < n; ++j) x[j] += row[j];
    else
        for (int64_t j = 0; j < n; ++j) x[j * step] += row[j];
}

// Adds the row of (c, p, q) back to x: gather_row backwards. At stride 1 most of it goes
// to the row above, moved down by one image row, and on to x with that one.
void scatter_row(float* x, float* row, int64_t p, const Lowering& at) {
    int64_t i = 0;
    if (at.stride == 1 && p > 0) {
        float* above = row - at.kernel * at.columns();
        add_to(above + at.Wo, row, at.M - at.Wo, 1);
        i = at.Ho - 1;
    }
    for (; i < at.Ho; ++i)
        add_to(x + i * at.stride * at.W, row + i * at.Wo, at.Wo, at.stride);
}

// bordered = the sum of what each of its elements gave to col; col is used up.
void col2im(float* bordered, float* col, const Lowering& at) {
    std::fill(bordered, bordered + at.bordered_size(), 0.0f);
    for (int64_t c = 0; c < at.C; ++c)
        for (int64_t p = at.kernel; p-- > 0;)
            for (int64_t q = 0; q < at.kernel; ++q)
                scatter_row(bordered + at.source(c, p, q), col + at.row(c, p, q), p, at);
}

// work(n, group) for images n to n + group.images, group after group.
template <typename Work>
void for_each_group(int64_t begin, int64_t end, const Lowering& at, const Work& work) {
    const int64_t most =
        std::max<int64_t>(1, kColumnsPerProduct / std::max<int64_t>(1, at.M));
    for (int64_t n = begin; n < end; n += most) {
        Lowering group = at;
        group.images = std::min(most, end - n);
        work(n, group);
    }
}

// Images (N, C, H, W) as columns, group by group.
class Columns {
  public:
    Columns(const float* x, const Lowering& at) : x_(x), at_(at) {}

    // The columns (K, images M) of the group that begins with image n, good until the
    // next call.
    const float* of_images(int64_t n, const Lowering& group) {
        const float* image = x_ + n * image_size();
        if (group.is_identity()) return image;
        if (!col_)
            col_ = scratch(at_.K * group.columns());  // none is larger than the first
        if (!bordered_) bordered_ = scratch(at_.padding > 0 ? at_.bordered_size() : 0);
        for (int64_t i = 0; i < group.images; ++i, image += image_size()) {
            if (at_.padding > 0) add_border(bordered_.get(), image, at_);
            im2col(col_.get() + i * at_.M, at_.padding > 0 ? bordered_.get() : image,
                   group);
        }
        return col_.get();
    }

  private:
    int64_t image_size() const { return at_.C * at_.inner_H() * at_.inner_W(); }

    const float* x_;
    const Lowering& at_;
    std::unique_ptr<float[]> col_, bordered_;
};

// Results (images, O, M) as one matrix (O, images M): g as it is for one image, else joined.
const float* join(std::unique_ptr<float[]>& joined, const float* g, int64_t O,
                  const Lowering& group) {
    if (group.images == 1) return g;
    if (!joined) joined = scratch(O * group.columns());
    for (int64_t i = 0; i < group.images; ++i)
        for (int64_t o = 0; o < O; ++o, g += group.M)
            std::copy(g, g + group.M, joined.get() + o * group.columns() + i * group.M);
    return joined.get();
}

// The reverse: y (images, O, M) = joined (O, images M).
void split(float* y, const float* joined, int64_t O, const Lowering& group) {
    for (int64_t i = 0; i < group.images; ++i)
        for (int64_t o = 0; o < O; ++o, y += group.M) {
            const float* row = joined + o * group.columns() + i * group.M;
            std::copy(row, row + group.M, y);
        }
}

}  // namespace

void conv2d(float* y, const float* x, const float* w, const float* bias, ImageExtents in,
            int64_t O, Window window) {
    const Lowering at(in, window);
    parallel_for(in.N, kImagesPerChunk, [&](int64_t begin, int64_t end) {
        Columns columns(x, at);
        std::unique_ptr<float[]> joined;
        for_each_group(begin, end, at, [&](int64_t n, const Lowering& group) {
            if (group.images > 1 && !joined) joined = scratch(O * group.columns());
            float* out = group.images > 1 ? joined.get() : y + n * O * at.M;
            for (int64_t o = 0; o < O; ++o)
                std::fill_n(out + o * group.columns(), group.columns(),
                            bias ? bias[o] : 0.0f);
            matmul(out, w, columns.of_images(n, group), O, group.columns(), at.K,
                   {.accumulate = true});
            if (group.images > 1) split(y + n * O * at.M, out, O, group);
        });
    });
}

void conv2d_backward_input(float* dx, const float* g, const float* w, ImageExtents in,
                           int64_t O, Window window) {
    const Lowering at(in, window);
    const int64_t image_size = in.C * in.H * in.W;
    parallel_for(in.N, kImagesPerChunk, [&](int64_t begin, int64_t end) {
        std::unique_ptr<float[]> dcol, joined;
        const auto bordered = scratch(at.padding > 0 ? at.bordered_size() : 0);
        for_each_group(begin, end, at, [&](int64_t n, const Lowering& group) {
            float* image = dx + n * image_size;
            const bool in_place = group.is_identity();
            if (!dcol && !in_place) dcol = scratch(at.K * group.columns());
            matmul(in_place ? image : dcol.get(), w,
                   join(joined, g + n * O * at.M, O, group), at.K, group.columns(), O,
                   {.transpose_a = true});
            if (in_place) return;
            for (int64_t i = 0; i < group.images; ++i, image += image_size) {
                col2im(at.padding > 0 ? bordered.get() : image, dcol.get() + i * at.M,
                       group);
                if (at.padding > 0) remove_border(image, bordered.get(), at);
            }
        });
    });
}

void conv2d_backward_weight(float* dw, float* dbias, const float* g, const float* x,
                            ImageExtents in, int64_t O, Window window) {
    const Lowering at(in, window);

    // Add up the images of each chunk on its own, then the chunks in a fixed order: the
    // bits do not depend on the number of threads.
    const int64_t chunks = (in.N + kImagesPerChunk - 1) / kImagesPerChunk;
    const auto partial = scratch(chunks * O * at.K);
    parallel_for(in.N, kImagesPerChunk, [&](int64_t begin, int64_t end) {
        Columns columns(x, at);
        float* out = partial.get() + begin / kImagesPerChunk * O * at.K;
        std::unique_ptr<float[]> joined;
        for_each_group(begin, end, at, [&](int64_t n, const Lowering& group) {
            matmul(out, join(joined, g + n * O * at.M, O, group),
                   columns.of_images(n, group), O, at.K, group.columns(),
                   {.transpose_b = true, .accumulate = n > begin});
        });
    });
    sum(dw, partial.get(), 1, chunks, O * at.K);

    // The bias is added at every place of every image: its gradient is the sum of g.
    if (dbias == nullptr) return;
    const auto per_image = scratch(in.N * O);
    sum(per_image.get(), g, in.N * O, at.M, 1);
    sum(dbias, per_image.get(), 1, in.N, O);
}

}  // namespace mini::kernels::cpu
