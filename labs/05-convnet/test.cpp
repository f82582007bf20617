// The checks of lab 05, tasks 05.1 and 05.2: the lowering of a convolution to a product
// of matrices, and both gradients. Each task's cases need that task and the tasks before it.

#include <cstdint>
#include <numeric>
#include <vector>

#include "labs/05-convnet/test_support.hpp"
#include "libmini/kernels/cpu/conv_im2col.hpp"

using namespace mini;
using namespace mini::lab05;
namespace cpu = kernels::cpu;

namespace {

Values im2col_of(const Values& x, const ImageExtents& in, const Window& window) {
    const Convolution of{in, 1, window};
    Values col = unwritten(of.K() * of.Ho() * of.Wo());
    cpu::im2col::im2col(col.data(), x.data(), in, window);
    return col;
}

Values col2im_of(const Values& dcol, const ImageExtents& in, const Window& window) {
    Values dx = unwritten(in.C * in.H * in.W);
    cpu::im2col::col2im(dx.data(), dcol.data(), in, window);
    return dx;
}

double dot(const Values& a, const Values& b) {
    return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

// Images that are not square, windows that overlap, touch, leave gaps, and lie in the
// padding with all their elements.
const std::vector<Convolution> kConvolutions = {
    {{1, 1, 3, 3}, 1, {2, 1, 0}},  {{1, 2, 4, 6}, 3, {3, 1, 0}},
    {{2, 3, 7, 5}, 2, {3, 2, 0}},  {{2, 2, 5, 4}, 4, {3, 1, 1}},
    {{3, 2, 6, 9}, 2, {2, 3, 0}},  {{2, 4, 5, 7}, 3, {1, 1, 0}},
    {{11, 2, 6, 5}, 3, {4, 2, 2}}, {{1, 2, 2, 3}, 2, {1, 1, 1}},
    {{2, 1, 1, 2}, 1, {5, 2, 2}},  {{1, 2, 3, 4}, 2, {2, 3, 2}},
};

// ---- 05.2

Values conv2d_of(const Convolution& of, const Values& x, const Values& w,
                 const float* bias) {
    Values y = unwritten(of.y_size());
    cpu::im2col::conv2d(y.data(), x.data(), w.data(), bias, of.in, of.O, of.window);
    return y;
}

Values backward_input_of(const Convolution& of, const Values& g, const Values& w) {
    Values dx = unwritten(of.x_size());
    cpu::im2col::backward_input(dx.data(), g.data(), w.data(), of.in, of.O, of.window);
    return dx;
}

Values backward_weight_of(const Convolution& of, const Values& g, const Values& x) {
    Values dw = unwritten(of.w_size());
    cpu::im2col::backward_weight(dw.data(), g.data(), x.data(), of.in, of.O, of.window);
    return dw;
}

}  // namespace

// ---- 05.1

TEST_CASE("a column of col has the elements under the window at one position",
          "[lab05][lab05.1]") {
    const Values col = im2col_of(count_up(9), {1, 1, 3, 3}, {2, 1, 0});
    INFO("the image 1 2 3 / 4 5 6 / 7 8 9, a window of 2 x 2, stride 1: four positions");
    INFO("the first column is 1 2 4 5, the window at the top left");
    INFO("expected the rows 1 2 4 5 / 2 3 5 6 / 4 5 7 8 / 5 6 8 9");
    INFO("yours             " << rows_of(col, 4) << "; nan: it was not written");
    CHECK(col == Values{1, 2, 4, 5, 2, 3, 5, 6, 4, 5, 7, 8, 5, 6, 8, 9});
}

TEST_CASE("the rows of the second channel follow those of the first",
          "[lab05][lab05.1]") {
    const Values col = im2col_of(count_up(12), {1, 2, 2, 3}, {2, 1, 0});
    INFO(
        "the channels 1 2 3 / 4 5 6 and 7 8 9 / 10 11 12, a window of 2 x 2: K = 8 rows");
    INFO("expected the rows 1 2 / 2 3 / 4 5 / 5 6 / 7 8 / 8 9 / 10 11 / 11 12");
    INFO("yours             " << rows_of(col, 2));
    CHECK(col == Values{1, 2, 2, 3, 4, 5, 5, 6, 7, 8, 8, 9, 10, 11, 11, 12});
}

TEST_CASE("the stride moves the window, not its elements", "[lab05][lab05.1]") {
    const Values col = im2col_of(count_up(24), {1, 1, 4, 6}, {2, 2, 0});
    INFO(
        "an image of 4 rows of 6, 1 to 24, a window of 2 x 2 with stride 2: six columns");
    INFO("the first column is 1 2 7 8, the second 3 4 9 10, the fourth 13 14 19 20");
    INFO("your rows " << rows_of(col, 6));
    CHECK(col == Values{1, 3, 5,  13, 15, 17, 2, 4,  6,  14, 16, 18,
                        7, 9, 11, 19, 21, 23, 8, 10, 12, 20, 22, 24});
}

TEST_CASE("an element of the window in the padding is 0", "[lab05][lab05.1]") {
    const Values col = im2col_of({5, 6}, {1, 1, 1, 2}, {3, 1, 1});
    INFO(
        "the image 5 6, a window of 3 x 3, padding 1: the window's middle is at 5, then");
    INFO("at 6; the first column is 0 0 0 0 5 6 0 0 0, the second 0 0 0 5 6 0 0 0 0");
    INFO("your rows " << rows_of(col, 2) << "; nan: it was not written");
    CHECK(col == Values{0, 0, 0, 0, 0, 0, 0, 5, 5, 6, 6, 0, 0, 0, 0, 0, 0, 0});
}

TEST_CASE("im2col equals its definition for every geometry", "[lab05][lab05.1]") {
    for (const Convolution& each : kConvolutions) {
        const Convolution of{{1, each.in.C, each.in.H, each.in.W}, 1, each.window};
        const Values x = small_integers(of.x_size(), 1);
        Values expected(static_cast<size_t>(of.K() * of.y_size()));
        for_each_product(of, [&](int64_t y, int64_t x_at, int64_t w_at) {
            expected[w_at * of.y_size() + y] = x[x_at];
        });
        INFO(of.in_words());
        check_equal("col", im2col_of(x, of.in, of.window), expected,
                    {of.K(), of.y_size()});
    }
}

TEST_CASE("col2im adds up what im2col repeats", "[lab05][lab05.1]") {
    const Values dx = col2im_of(Values(16, 1), {1, 1, 3, 3}, {2, 1, 0});
    INFO("all 16 elements of dcol are 1, so dx has the number of windows over each");
    INFO("element: 1 2 1 / 2 4 2 / 1 2 1");
    INFO("yours " << rows_of(dx, 3) << "; nan: dx was added to before it was set to 0");
    CHECK(dx == Values{1, 2, 1, 2, 4, 2, 1, 2, 1});
}

TEST_CASE("col2im takes each element back to where im2col copied it from",
          "[lab05][lab05.1]") {
    const Values dx = col2im_of({1, 10, 2, 20, 3, 30, 4, 40}, {1, 1, 2, 3}, {2, 1, 0});
    INFO("dcol is 1 10 / 2 20 / 3 30 / 4 40: the first window is 1 2 / 3 4, the second");
    INFO("10 20 / 30 40; they overlap in the middle column");
    INFO("expected 1 12 20 / 3 34 40, yours " << rows_of(dx, 3));
    CHECK(dx == Values{1, 12, 20, 3, 34, 40});
}

TEST_CASE("an element under no window has the gradient 0", "[lab05][lab05.1]") {
    const Values dx = col2im_of(count_up(8), {1, 2, 3, 4}, {1, 2, 0});
    INFO("two channels of 3 x 4, a window of 1 x 1 with stride 2: rows 0 and 2, columns");
    INFO("0 and 2; expected 1 0 2 0 / 0 0 0 0 / 3 0 4 0 / 5 0 6 0 / 0 0 0 0 / 7 0 8 0");
    INFO("yours    " << rows_of(dx, 4));
    CHECK(dx ==
          Values{1, 0, 2, 0, 0, 0, 0, 0, 3, 0, 4, 0, 5, 0, 6, 0, 0, 0, 0, 0, 7, 0, 8, 0});
}

TEST_CASE("col2im leaves out what belongs to the padding", "[lab05][lab05.1]") {
    const Values dx = col2im_of(count_up(18), {1, 1, 1, 2}, {3, 1, 1});
    INFO("an image of 1 x 2, a window of 3 x 3, padding 1; dcol is 1 2 / 3 4 / ... / 17");
    INFO(
        "18: the image's first element has 9, the middle of the first window, and 8, "
        "left");
    INFO("of the middle of the second; expected 17 21");
    INFO("yours " << rows_of(dx, 2));
    CHECK(dx == Values{17, 21});
}

TEST_CASE("col2im is the transpose of im2col for every geometry", "[lab05][lab05.1]") {
    for (const Convolution& of : kConvolutions) {
        const Values x = small_integers(of.in.C * of.in.H * of.in.W, 1);
        const Values d = small_integers(of.K() * of.Ho() * of.Wo(), 2);
        INFO(of.in_words());
        INFO("the sum of im2col(x) d over all elements of col must be the sum of");
        INFO("x col2im(d) over all elements of the image, for every x and d");
        CHECK(dot(im2col_of(x, of.in, of.window), d) ==
              dot(x, col2im_of(d, of.in, of.window)));
    }
}

// ---- 05.2

TEST_CASE("an output is the sum of the window's elements times the weights",
          "[lab05][lab05.2]") {
    const Convolution of{{1, 1, 3, 3}, 1, {2, 1, 0}};
    const float bias = 100;
    const Values y = conv2d_of(of, count_up(9), {1, 2, 3, 4}, &bias);
    INFO(
        "the image 1 2 3 / 4 5 6 / 7 8 9, the filter 1 2 / 3 4, the bias 100: the first");
    INFO("output is 1*1 + 2*2 + 3*4 + 4*5 + 100 = 137; the filter is not turned around");
    INFO("expected 137 147 / 167 177, yours " << rows_of(y, 2));
    CHECK(y == Values{137, 147, 167, 177});
}

TEST_CASE("a convolution may have no bias", "[lab05][lab05.2]") {
    const Convolution of{{2, 1, 1, 2}, 2, {1, 1, 0}};
    const Values y = conv2d_of(of, {1, 2, 3, 4}, {1, 10}, nullptr);
    INFO("two images 1 2 and 3 4, the filters 1 and 10, bias is null");
    INFO("expected 1 2 / 10 20 / 3 4 / 30 40, yours " << rows_of(y, 2)
                                                      << "; nan: y was added to before "
                                                         "it was written");
    CHECK(y == Values{1, 2, 10, 20, 3, 4, 30, 40});
}

TEST_CASE("each output channel has its own filter and its own bias", "[lab05][lab05.2]") {
    const Convolution of{{1, 2, 2, 2}, 2, {2, 1, 0}};
    const Values bias{1000, 2000};
    const Values y =
        conv2d_of(of, count_up(8), {1, 0, 0, 0, 0, 0, 0, 10, 0, 1, 0, 0, 0, 0, 100, 0},
                  bias.data());
    INFO("the channels 1 2 / 3 4 and 5 6 / 7 8; filter 0 is 1 times element 1 plus 10");
    INFO("times element 8, filter 1 is element 2 plus 100 times element 7");
    INFO("expected 1081 2702, yours " << rows_of(y, 2));
    CHECK(y == Values{1081, 2702});
}

TEST_CASE("the forward pass equals its definition for every geometry",
          "[lab05][lab05.2]") {
    for (const Convolution& of : kConvolutions) {
        const Values x = small_integers(of.x_size(), 1),
                     w = small_integers(of.w_size(), 2);
        const Values bias = small_integers(of.O, 3);
        Values expected(static_cast<size_t>(of.y_size()));
        for (int64_t i = 0; i < of.y_size(); ++i)
            expected[i] = bias[i / (of.Ho() * of.Wo()) % of.O];
        for_each_product(of, [&](int64_t y, int64_t x_at, int64_t w_at) {
            expected[y] += x[x_at] * w[w_at];
        });
        INFO(of.in_words());
        check_equal("y", conv2d_of(of, x, w, bias.data()), expected,
                    {of.in.N, of.O, of.Ho(), of.Wo()});
    }
}

TEST_CASE("the gradient of x: each window gives its weights to its elements",
          "[lab05][lab05.2]") {
    const Convolution of{{1, 1, 3, 3}, 1, {2, 1, 0}};
    const Values dx = backward_input_of(of, {1, 0, 0, 10}, {1, 2, 3, 4});
    INFO(
        "the filter 1 2 / 3 4; g is 1 0 / 0 10: only the first and the last window "
        "count");
    INFO("expected 1 2 0 / 3 14 20 / 0 30 40, yours " << rows_of(dx, 3));
    CHECK(dx == Values{1, 2, 0, 3, 14, 20, 0, 30, 40});
}

TEST_CASE("the gradient of x equals its definition for every geometry",
          "[lab05][lab05.2]") {
    for (const Convolution& of : kConvolutions) {
        const Values g = small_integers(of.y_size(), 1),
                     w = small_integers(of.w_size(), 2);
        Values expected(static_cast<size_t>(of.x_size()));
        for_each_product(of, [&](int64_t y, int64_t x_at, int64_t w_at) {
            expected[x_at] += g[y] * w[w_at];
        });
        INFO(of.in_words());
        check_equal("dx", backward_input_of(of, g, w), expected,
                    {of.in.N, of.in.C, of.in.H, of.in.W});
    }
}

TEST_CASE("the gradient of w: every output position has used the weight",
          "[lab05][lab05.2]") {
    const Convolution of{{1, 1, 3, 3}, 1, {2, 1, 0}};
    const Values dw = backward_weight_of(of, {1, 0, 0, 10}, count_up(9));
    INFO(
        "the image 1 2 3 / 4 5 6 / 7 8 9; g is 1 0 / 0 10: the first window is 1 2 / 4 "
        "5,");
    INFO("the last one 5 6 / 8 9; expected 1*1 + 10*5 = 51 62 / 84 95");
    INFO("yours " << rows_of(dw, 2));
    CHECK(dw == Values{51, 62, 84, 95});
}

TEST_CASE("the gradient of w is the sum over all images", "[lab05][lab05.2]") {
    const Convolution of{{19, 1, 1, 1}, 1, {1, 1, 0}};
    const Values dw = backward_weight_of(of, Values(19, 1), count_up(19));
    INFO("19 images of one element, 1 to 19; g is 1 for all of them");
    INFO("expected 190, yours " << rows_of(dw, 1));
    CHECK(dw == Values{190});
}

TEST_CASE("the gradient of w equals its definition for every geometry",
          "[lab05][lab05.2]") {
    for (const Convolution& of : kConvolutions) {
        const Values g = small_integers(of.y_size(), 1),
                     x = small_integers(of.x_size(), 2);
        Values expected(static_cast<size_t>(of.w_size()));
        for_each_product(of, [&](int64_t y, int64_t x_at, int64_t w_at) {
            expected[w_at] += g[y] * x[x_at];
        });
        INFO(of.in_words());
        check_equal("dw", backward_weight_of(of, g, x), expected,
                    {of.O, of.in.C, of.window.kernel, of.window.kernel});
    }
}

TEST_CASE("the results have the same bits with any number of threads",
          "[lab05][lab05.2]") {
    const Convolution of{{20, 2, 6, 5}, 3, {3, 1, 1}};
    const Values g = normal_numbers(of.y_size(), 1), x = normal_numbers(of.x_size(), 2),
                 w = normal_numbers(of.w_size(), 3);
    INFO("20 images; an order of additions that depends on which thread is ready first");
    INFO("gives other last bits in each run");
    CHECK(identical_for_any_threads([&] { return conv2d_of(of, x, w, nullptr); }));
    CHECK(identical_for_any_threads([&] { return backward_input_of(of, g, w); }));
    CHECK(identical_for_any_threads([&] { return backward_weight_of(of, g, x); }));
}
