// These cases run twice: on the core alone, and with extras/fast.

#include <cstdint>
#include <vector>

#include "libmini/kernels/kernels.hpp"
#include "tests/kernels/support.hpp"
#include "tests/support/catch.hpp"

namespace mini::kernels {
namespace {

struct ConvProblem {
    ImageExtents in;
    int64_t O;
    Window window;

    int64_t Ho() const { return window.output(in.H); }
    int64_t Wo() const { return window.output(in.W); }
    int64_t x_size() const { return in.N * in.C * in.H * in.W; }
    int64_t y_size() const { return in.N * O * Ho() * Wo(); }
    int64_t w_size() const { return O * in.C * window.kernel * window.kernel; }
};

const std::vector<ConvProblem> kProblems = {
    {{1, 1, 1, 1}, 1, {1, 1, 0}},       // one multiplication
    {{2, 1, 28, 28}, 10, {5, 1, 0}},    // the tutorial's first layer
    {{17, 10, 12, 12}, 20, {5, 1, 0}},  // the second layer, images in two chunks
    {{0, 3, 8, 8}, 4, {3, 1, 1}},
    {{0, 32, 8, 8}, 4, {3, 1, 1}},  // no images
    {{3, 2, 7, 5}, 4, {3, 1, 1}},   // padding, not square
    {{2, 3, 9, 8}, 1, {3, 2, 0}},   // a last column without a window; one output channel
    {{2, 1, 6, 7}, 3, {2, 3, 1}},   // a stride longer than the window
    {{2, 2, 3, 3}, 2, {3, 1, 0}},   // a window as large as the image
    {{2, 2, 2, 2}, 3, {4, 1, 1}},   // a window as large as the image and its padding
    {{17, 2, 5, 4}, 3, {1, 1, 0}},  // 1 x 1
    {{2, 2, 4, 4}, 2, {3, 2, 2}},   // windows that are mostly padding
    // Direct: tiles that overlap at the end of rows and columns, and channels left over.
    {{2, 3, 11, 13}, 7, {3, 1, 0}},
    {{9, 2, 9, 8}, 4, {3, 1, 1}},
    {{1, 2, 10, 19}, 1, {3, 1, 2}},
    {{2, 2, 10, 14}, 11, {5, 1, 2}},
    {{2, 2, 10, 11}, 3, {5, 1, 1}},
    {{3, 2, 8, 15}, 3, {5, 1, 0}},  // 4 rows, the least that a direct convolution has
    {{3, 2, 6, 10}, 8, {3, 1, 0}},
    {{19, 2, 16, 16}, 13, {3, 1, 1}},  // gradients of several chunks of images
    // Strides and padding of all kinds, many channels; first, too low for the direct.
    {{3, 4, 7, 12}, 6, {5, 1, 0}},
    {{2, 1, 5, 15}, 3, {3, 1, 0}},
    {{3, 2, 7, 15}, 3, {5, 1, 0}},
    {{2, 130, 4, 3}, 65, {3, 1, 1}},
    {{3, 33, 9, 7}, 34, {3, 2, 1}},
    {{2, 5, 21, 23}, 6, {7, 2, 3}},
    {{3, 32, 10, 11}, 35, {4, 3, 1}},
    {{5, 33, 6, 5}, 9, {1, 2, 0}},   // inputs in no window
    {{6, 40, 1, 1}, 32, {3, 1, 1}},  // all rows of the window but one read only padding
    {{3, 4, 2, 1}, 5, {5, 2, 2}},
    {{2, 2, 1, 1}, 2, {1, 3, 1}},  // a window that reads only padding
    {{1, 1, 2, 3}, 2, {20, 1, 19}},
};

// Calls visit(y index, x index, w index) for each multiplication of the convolution.
template <typename Visit>
void for_each_multiplication(const ConvProblem& p, Visit visit) {
    const auto [N, C, H, W] = p.in;
    const auto [kernel, stride, padding] = p.window;
    for (int64_t y = 0; y < p.y_size(); ++y) {
        const int64_t j = y % p.Wo(), i = y / p.Wo() % p.Ho();
        const int64_t o = y / (p.Wo() * p.Ho()) % p.O, n = y / (p.Wo() * p.Ho() * p.O);
        for (int64_t tap = 0; tap < C * kernel * kernel; ++tap) {
            const int64_t c = tap / (kernel * kernel);
            const int64_t h = i * stride + tap / kernel % kernel - padding;
            const int64_t w = j * stride + tap % kernel - padding;
            if (h < 0 || h >= H || w < 0 || w >= W) continue;
            visit(y, ((n * C + c) * H + h) * W + w, o * C * kernel * kernel + tap);
        }
    }
}

std::vector<float> conv2d_of(const ConvProblem& p, const std::vector<float>& x,
                             const std::vector<float>& w, const float* bias) {
    std::vector<float> y = unwritten(p.y_size());
    cpu::conv2d(y.data(), x.data(), w.data(), bias, p.in, p.O, p.window);
    return y;
}

std::vector<float> backward_input_of(const ConvProblem& p, const std::vector<float>& g,
                                     const std::vector<float>& w) {
    std::vector<float> dx = unwritten(p.x_size());
    cpu::conv2d_backward_input(dx.data(), g.data(), w.data(), p.in, p.O, p.window);
    return dx;
}

// Returns dw, followed by dbias.
std::vector<float> backward_weight_of(const ConvProblem& p, const std::vector<float>& g,
                                      const std::vector<float>& x) {
    std::vector<float> dw = unwritten(p.w_size() + p.O);
    cpu::conv2d_backward_weight(dw.data(), dw.data() + p.w_size(), g.data(), x.data(),
                                p.in, p.O, p.window);
    return dw;
}

}  // namespace

TEST_CASE("conv2d and its gradients equal their definitions") {
    const ConvProblem p = GENERATE(from_range(kProblems));
    CAPTURE(p.in.N, p.in.C, p.in.H, p.in.W, p.O, p.window.kernel, p.window.stride,
            p.window.padding);
    const std::vector<float> x = small_integers(p.x_size(), 1),
                             w = small_integers(p.w_size(), 2);
    const std::vector<float> bias = small_integers(p.O, 3),
                             g = small_integers(p.y_size(), 4);

    std::vector<float> y(static_cast<size_t>(p.y_size()));
    std::vector<float> dx(static_cast<size_t>(p.x_size()));
    std::vector<float> dw(static_cast<size_t>(p.w_size() + p.O));  // followed by dbias
    for_each_multiplication(p, [&](int64_t yi, int64_t xi, int64_t wi) {
        y[yi] += x[xi] * w[wi];
        dx[xi] += g[yi] * w[wi];
        dw[wi] += g[yi] * x[xi];
    });
    CHECK(first_difference(conv2d_of(p, x, w, nullptr), y) == kNoDifference);

    for (int64_t i = 0; i < p.y_size(); ++i) {
        const int64_t o = i / (p.Ho() * p.Wo()) % p.O;
        y[i] += bias[o];
        dw[p.w_size() + o] += g[i];
    }
    CHECK(first_difference(conv2d_of(p, x, w, bias.data()), y) == kNoDifference);
    CHECK(first_difference(backward_input_of(p, g, w), dx) == kNoDifference);
    CHECK(first_difference(backward_weight_of(p, g, x), dw) == kNoDifference);

    // Without dbias, only dw is written.
    std::vector<float> only_dw = unwritten(p.w_size());
    cpu::conv2d_backward_weight(only_dw.data(), nullptr, g.data(), x.data(), p.in, p.O,
                                p.window);
    dw.resize(only_dw.size());
    CHECK(first_difference(only_dw, dw) == kNoDifference);
}

TEST_CASE("convolutions are bitwise identical for any number of threads", "[large]") {
    const std::vector<ConvProblem> problems = {
        {{37, 3, 9, 9}, 26, {3, 1, 1}},    // direct, with padding
        {{37, 3, 12, 13}, 9, {5, 1, 0}},   // direct
        {{37, 3, 17, 17}, 5, {3, 2, 1}},   // im2col
        {{3, 150, 5, 5}, 140, {3, 2, 1}},  // many channels
    };
    for (const ConvProblem& p : problems) {
        const std::vector<float> x = normal_numbers(p.x_size(), 1),
                                 w = normal_numbers(p.w_size(), 2);
        const std::vector<float> g = normal_numbers(p.y_size(), 3);
        CHECK(identical_for_any_threads([&] { return conv2d_of(p, x, w, nullptr); }));
        CHECK(identical_for_any_threads([&] { return backward_input_of(p, g, w); }));
        CHECK(identical_for_any_threads([&] { return backward_weight_of(p, g, x); }));
    }
}

TEST_CASE("an image's convolution does not depend on the other images of the batch") {
    const ConvProblem problems[] = {{{1, 2, 15, 15}, 3, {3, 2, 0}},   // im2col
                                    {{1, 40, 5, 6}, 41, {3, 2, 1}},   // many channels
                                    {{1, 2, 12, 12}, 3, {3, 1, 0}}};  // direct
    for (const ConvProblem& one : problems) {
        ConvProblem many = one;
        many.in.N = 12;  // even: the last image is computed together with another
        const std::vector<float> x = normal_numbers(many.x_size(), 1);
        const std::vector<float> w = normal_numbers(many.w_size(), 2);
        const std::vector<float> last(x.end() - one.x_size(), x.end());

        const std::vector<float> y = conv2d_of(many, x, w, nullptr);
        CHECK(conv2d_of(one, last, w, nullptr) ==
              std::vector<float>(y.end() - one.y_size(), y.end()));
    }
}

}  // namespace mini::kernels
