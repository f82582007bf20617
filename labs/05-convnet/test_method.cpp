// The checks of lab 05, task 05.3: which method computes a convolution, and the gradient
// of the bias.

#include <cstdint>
#include <string>
#include <vector>

#include "labs/05-convnet/test_support.hpp"
#include "libmini/kernels/cpu/conv_direct.hpp"
#include "libmini/kernels/cpu/conv_im2col.hpp"
#include "libmini/kernels/cpu/conv_im2col_batched.hpp"
#include "libmini/kernels/cpu/conv_product.hpp"
#include "libmini/random/random.hpp"

using namespace mini;
using namespace mini::lab05;
namespace cpu = kernels::cpu;

namespace {

Values normal_numbers(int64_t size, uint64_t seed) {
    Values values(static_cast<size_t>(size));
    Generator generator(seed);
    fill_normal(values, 0, 1, generator);
    return values;
}

// The results of all methods for one convolution. They differ in their last bits, because
// each method adds the products in another order.
struct Results {
    std::string method;
    Values y, dx, dw;
};

std::vector<Results> results_of(const Convolution& of, const Values& x, const Values& w,
                                const Values& g) {
    const auto run = [&](const char* name, auto conv2d, auto input, auto weight) {
        Results of_method{name, unwritten(of.y_size()), unwritten(of.x_size()),
                          unwritten(of.w_size())};
        conv2d(of_method.y.data(), x.data(), w.data(), nullptr, of.in, of.O, of.window);
        input(of_method.dx.data(), g.data(), w.data(), of.in, of.O, of.window);
        weight(of_method.dw.data(), g.data(), x.data(), of.in, of.O, of.window);
        return of_method;
    };
    std::vector<Results> all = {
        run("product", cpu::product::conv2d, cpu::product::backward_input,
            cpu::product::backward_weight),
        run("im2col", cpu::im2col::conv2d, cpu::im2col::backward_input,
            cpu::im2col::backward_weight),
        run("im2col_batched", cpu::im2col_batched::conv2d,
            cpu::im2col_batched::backward_input, cpu::im2col_batched::backward_weight)};
    if (cpu::direct::fits(of.in, of.window))
        all.push_back(run("direct", cpu::direct::conv2d, cpu::direct::backward_input,
                          cpu::direct::backward_weight));
    return all;
}

struct Choice {
    Convolution of;
    const char *y, *dx, *dw;  // the methods by the table
    const char* why;
};

const std::vector<Choice> kChoices = {
    {{{2, 10, 12, 12}, 20, {5, 1, 0}},
     "direct",
     "direct",
     "direct",
     "the tutorial's conv2: stride 1, a kernel of 5, 8 x 8 outputs: direct fits"},
    {{{2, 33, 12, 12}, 40, {3, 1, 1}},
     "direct",
     "direct",
     "direct",
     "direct fits, and is asked first, also with 32 rows and more"},
    {{{2, 32, 17, 17}, 3, {3, 2, 1}},
     "im2col",
     "product",
     "im2col",
     "stride 2; the gradient of x has C = 32 rows, the two others O = 3"},
    {{{2, 3, 17, 17}, 32, {3, 2, 1}},
     "product",
     "im2col",
     "product",
     "stride 2; y and the gradient of w have O = 32 rows, the gradient of x C = 3"},
    {{{2, 31, 17, 17}, 31, {3, 2, 1}},
     "im2col",
     "im2col",
     "im2col",
     "stride 2 and 31 rows: one too few for product"},
    {{{2, 3, 14, 14}, 4, {4, 1, 0}},
     "im2col_batched",
     "im2col_batched",
     "im2col_batched",
     "a kernel of 4, for which direct is not written; stride 1: im2col_batched fits"},
    {{{2, 3, 14, 14}, 32, {4, 1, 0}},
     "product",
     "im2col_batched",
     "product",
     "im2col_batched fits, but replaces only im2col: 32 rows are for product"},
    {{{2, 64, 8, 8}, 64, {3, 1, 1}},
     "direct",
     "direct",
     "product",
     "direct fits; from 64 channels on only the gradient of w is not for direct"},
};

// Checks that `got` is bitwise the result of the `expected` method.
void check_method(const std::string& what, const Values& got, const std::string& expected,
                  const std::vector<Results>& all, Values Results::*member) {
    std::string names;
    bool as_expected = false;
    for (const Results& results : all) {
        if (first_difference(got, results.*member) >= 0) continue;
        names += names.empty() ? results.method : " and " + results.method;
        as_expected = as_expected || results.method == expected;
    }
    INFO(what << ": by the table at the head of conv.cpp the method is " << expected);
    INFO("your result has the bits of "
         << (names.empty() ? "no method; im2col is yours: does 05.2 pass?" : names));
    CHECK(as_expected);
}

}  // namespace

TEST_CASE("each convolution is computed by the method of the table", "[lab05][lab05.3]") {
    for (const Choice& choice : kChoices) {
        const Convolution& of = choice.of;
        const Values x = normal_numbers(of.x_size(), 1),
                     w = normal_numbers(of.w_size(), 2);
        const Values g = normal_numbers(of.y_size(), 3);
        const std::vector<Results> all = results_of(of, x, w, g);
        INFO(of.in_words() << ": " << choice.why);
        Values y = unwritten(of.y_size()), dx = unwritten(of.x_size()),
               dw = unwritten(of.w_size());
        cpu::conv2d(y.data(), x.data(), w.data(), nullptr, of.in, of.O, of.window);
        check_method("y", y, choice.y, all, &Results::y);
        cpu::conv2d_backward_input(dx.data(), g.data(), w.data(), of.in, of.O, of.window);
        check_method("the gradient of x", dx, choice.dx, all, &Results::dx);
        cpu::conv2d_backward_weight(dw.data(), nullptr, g.data(), x.data(), of.in, of.O,
                                    of.window);
        check_method("the gradient of w", dw, choice.dw, all, &Results::dw);
    }
}

TEST_CASE("the gradient of the bias is the sum of g over images and positions",
          "[lab05][lab05.3]") {
    const Convolution of{{2, 1, 1, 3}, 2, {1, 1, 0}};
    const Values g{1, 2, 3, 10, 20, 30, 100, 200, 300, 1000, 2000, 3000};
    Values dw = unwritten(of.w_size()), dbias = unwritten(of.O);
    cpu::conv2d_backward_weight(dw.data(), dbias.data(), g.data(), Values(6, 0).data(),
                                of.in, of.O, of.window);
    INFO("g (2, 2, 1, 3): image 0 has 1 2 3 in channel 0 and 10 20 30 in channel 1,");
    INFO("image 1 has 100 200 300 and 1000 2000 3000");
    INFO("expected 606 6060, got " << rows_of(dbias, 2) << "; hint 2 of 05.3");
    CHECK(dbias == Values{606, 6060});
}

TEST_CASE("the gradient of the bias of many images and channels", "[lab05][lab05.3]") {
    const Convolution of{{9, 2, 12, 10}, 7, {3, 1, 0}};
    const Values g = small_integers(of.y_size(), 1), x = small_integers(of.x_size(), 2);
    Values expected(static_cast<size_t>(of.O));
    for (int64_t i = 0; i < of.y_size(); ++i)
        expected[i / (of.Ho() * of.Wo()) % of.O] += g[i];
    Values dw = unwritten(of.w_size()), dbias = unwritten(of.O);
    cpu::conv2d_backward_weight(dw.data(), dbias.data(), g.data(), x.data(), of.in, of.O,
                                of.window);
    INFO(of.in_words());
    check_equal("dbias", dbias, expected, {of.O});
}
