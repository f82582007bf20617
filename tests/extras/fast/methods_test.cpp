#include <cstdint>
#include <string>
#include <vector>

#include "libmini/extras/fast/conv_methods.hpp"
#include "libmini/kernels/cpu/conv_im2col.hpp"
#include "libmini/kernels/kernels.hpp"
#include "libmini/kernels/registry.hpp"
#include "tests/kernels/conv_problems.hpp"
#include "tests/kernels/support.hpp"
#include "tests/support/catch.hpp"

namespace mini::kernels {
namespace {

// Each method computes every problem that it can, whichever fast.cpp chooses.
struct Method {
    const char* name;
    decltype(&cpu::conv2d) conv2d;
    decltype(&cpu::conv2d_backward_input) backward_input;
    decltype(&cpu::product::backward_weight) backward_weight;

    bool computes(const ConvProblem& p) const {
        return conv2d != cpu::direct::conv2d || cpu::direct::fits(p.in, p.window);
    }
};

const std::vector<Method> kMethods = {
    {"direct", cpu::direct::conv2d, cpu::direct::backward_input,
     cpu::direct::backward_weight},
    {"product", cpu::product::conv2d, cpu::product::backward_input,
     cpu::product::backward_weight},
    {"im2col", cpu::im2col::conv2d, cpu::im2col::backward_input,
     cpu::im2col::backward_weight},
};

}  // namespace

TEST_CASE("each method of convolution equals its definition") {
    const Method method = GENERATE(from_range(kMethods));
    const ConvProblem p = GENERATE(from_range(kProblems));
    if (!method.computes(p)) return;
    CAPTURE(method.name, p.in.N, p.in.C, p.in.H, p.in.W, p.O, p.window.kernel,
            p.window.stride, p.window.padding);
    const std::vector<float> x = small_integers(p.x_size(), 1),
                             w = small_integers(p.w_size(), 2);
    const std::vector<float> g = small_integers(p.y_size(), 3),
                             bias = small_integers(p.O, 4);

    std::vector<float> y(static_cast<size_t>(p.y_size())),
        dx(static_cast<size_t>(p.x_size())), dw(static_cast<size_t>(p.w_size()));
    for (int64_t i = 0; i < p.y_size(); ++i) y[i] = bias[i / (p.Ho() * p.Wo()) % p.O];
    for_each_multiplication(p, [&](int64_t yi, int64_t xi, int64_t wi) {
        y[yi] += x[xi] * w[wi];
        dx[xi] += g[yi] * w[wi];
        dw[wi] += g[yi] * x[xi];
    });

    std::vector<float> result = unwritten(p.y_size());
    method.conv2d(result.data(), x.data(), w.data(), bias.data(), p.in, p.O, p.window);
    CHECK(first_difference(result, y) == kNoDifference);
    result = unwritten(p.x_size());
    method.backward_input(result.data(), g.data(), w.data(), p.in, p.O, p.window);
    CHECK(first_difference(result, dx) == kNoDifference);
    result = unwritten(p.w_size());
    method.backward_weight(result.data(), g.data(), x.data(), p.in, p.O, p.window);
    CHECK(first_difference(result, dw) == kNoDifference);
}

TEST_CASE("the method follows from the window and the channels of the result") {
    struct Choice {
        ImageExtents in;
        int64_t O;
        Window window;
        const char *y, *dx, *dw;
    };
    const std::vector<Choice> choices = {
        {{2, 10, 12, 12}, 20, {5, 1, 0}, "direct", "direct", "direct"},
        {{2, 33, 12, 12}, 40, {3, 1, 1}, "direct", "direct", "direct"},
        {{2, 64, 8, 8}, 64, {3, 1, 1}, "direct", "direct", "product"},
        {{2, 32, 17, 17}, 3, {3, 2, 1}, "the core", "product", "the core"},
        {{2, 3, 17, 17}, 32, {3, 2, 1}, "product", "the core", "product"},
        {{2, 31, 17, 17}, 31, {3, 2, 1}, "the core", "the core", "the core"},
        {{2, 3, 14, 14}, 32, {4, 1, 0}, "product", "the core", "product"}};
    const auto name = [](const ConvKernels* method) {
        if (method == nullptr) return "the core";
        return method->forward == cpu::direct::conv2d ? "direct" : "product";
    };
    const FasterKernels& kernels = faster_kernels();
    for (const Choice& of : choices) {
        CAPTURE(of.in.C, of.in.H, of.O, of.window.kernel, of.window.stride);
        CHECK(name(kernels.conv(of.in, of.window, of.O)) == std::string(of.y));
        CHECK(name(kernels.conv(of.in, of.window, of.in.C)) == std::string(of.dx));
        CHECK(name(kernels.conv_weight(of.in, of.window, of.O)) == std::string(of.dw));
    }
}

TEST_CASE("max pooling in 2 x 2 windows is computed by the registered kernel") {
    float y[4];
    int32_t indices[4];
    const float x[16] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
    const Window adjacent{2, 2, 0};
    const PoolKernels* const kernels = faster_kernels().pool(adjacent);
    REQUIRE(kernels != nullptr);
    kernels->forward(y, indices, x, 4, 4, adjacent);
    CHECK(y[3] == 16);
    CHECK(indices[0] == 5);
    CHECK(faster_kernels().pool({2, 1, 0}) == nullptr);
    CHECK(faster_kernels().pool({3, 2, 1}) == nullptr);
}

}  // namespace mini::kernels
