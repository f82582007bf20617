#include "tests/kernels/cuda/support.hpp"

namespace mini::kernels {
namespace {

struct Convolution {
    ImageExtents in;
    int64_t O;
    Window window;
};

constexpr Convolution kConvolutions[] = {
    {{1, 1, 1, 1}, 1, {1, 1, 0}},    {{2, 1, 12, 12}, 10, {5, 1, 0}},
    {{3, 10, 6, 6}, 20, {5, 1, 0}},  {{1, 3, 7, 9}, 17, {3, 1, 1}},
    {{2, 3, 8, 8}, 33, {3, 2, 1}},   {{1, 3, 11, 10}, 65, {4, 3, 2}},
    {{5, 4, 5, 5}, 3, {1, 1, 0}},    {{4, 2, 6, 6}, 5, {1, 2, 0}},
    {{300, 1, 3, 3}, 2, {2, 1, 0}},  {{2, 1, 4, 4}, 2, {2, 1, 3}},
    {{0, 2, 4, 4}, 3, {3, 1, 1}},    {{2, 2, 4, 4}, 0, {3, 1, 1}},
    {{18, 1, 44, 44}, 3, {1, 1, 0}}, {{2, 2, 94, 94}, 20, {1, 1, 0}},
    {{2, 20, 94, 94}, 1, {1, 1, 0}},
};

// Arrays of integers, so that every product and sum is exact in any order.
struct Arrays {
    explicit Arrays(const Convolution& conv)
        : outputs(conv.in.N * conv.O * conv.window.output(conv.in.H) *
                  conv.window.output(conv.in.W)),
          x(small_integers(conv.in.N * conv.in.C * conv.in.H * conv.in.W, 1)),
          w(small_integers(conv.O * conv.in.C * conv.window.kernel * conv.window.kernel,
                           2)),
          bias(small_integers(conv.O, 3)),
          g(small_integers(outputs, 4)) {}

    int64_t outputs;
    std::vector<float> x, w, bias, g;
};

// Checks conv2d and its gradients against the CPU's results on integers.
void check_convolution(const Convolution& conv, bool with_bias) {
    const auto& [in, O, window] = conv;
    CAPTURE(in.N, in.C, in.H, in.W, O, window.kernel, window.stride, window.padding,
            with_bias);
    const Arrays host(conv);
    const OnDevice<float> x(host.x), w(host.w), bias(host.bias), g(host.g);

    auto expected = unwritten(host.outputs);
    cpu::conv2d(expected.data(), host.x.data(), host.w.data(),
                with_bias ? host.bias.data() : nullptr, in, O, window);
    const auto y = unwritten_on_device(host.outputs);
    cuda::conv2d(y, x, w, with_bias ? bias.get() : nullptr, in, O, window, nullptr);
    CHECK(first_difference(y.read(), expected) == kNoDifference);

    auto expected_dx = unwritten(static_cast<int64_t>(host.x.size()));
    cpu::conv2d_backward_input(expected_dx.data(), host.g.data(), host.w.data(), in, O,
                               window);
    const auto dx = unwritten_on_device(static_cast<int64_t>(host.x.size()));
    cuda::conv2d_backward_input(dx, g, w, in, O, window, nullptr);
    CHECK(first_difference(dx.read(), expected_dx) == kNoDifference);

    auto expected_dw = unwritten(static_cast<int64_t>(host.w.size()));
    auto expected_dbias = unwritten(O);
    cpu::conv2d_backward_weight(expected_dw.data(),
                                with_bias ? expected_dbias.data() : nullptr,
                                host.g.data(), host.x.data(), in, O, window);
    const auto dw = unwritten_on_device(static_cast<int64_t>(host.w.size()));
    const auto dbias = unwritten_on_device(O);
    cuda::conv2d_backward_weight(dw, with_bias ? dbias.get() : nullptr, g, x, in, O,
                                 window, nullptr);
    CHECK(first_difference(dw.read(), expected_dw) == kNoDifference);
    CHECK(first_difference(dbias.read(), expected_dbias) == kNoDifference);
}

TEST_CASE("conv2d and its gradients equal the CPU's results on integers") {
    const auto conv =
        GENERATE(from_range(std::begin(kConvolutions), std::end(kConvolutions)));
    check_convolution(conv, GENERATE(false, true));
}

TEST_CASE("slices of a batch are convolved one after the other") {
    // An image has more than half of the elements of a slice, so a slice has one image.
    check_convolution({{3, 1, 1500, 1500}, 2, {2, 1000, 0}}, true);
}

TEST_CASE("conv2d_backward_weight is bitwise identical in repeated runs") {
    const ImageExtents in{40, 2, 5, 5};
    const Window window{3, 1, 1};
    const OnDevice<float> x(normal_numbers(40 * 2 * 25, 1)),
        g(normal_numbers(40 * 3 * 25, 2));
    const auto dw = unwritten_on_device(3 * 2 * 9),
               again = unwritten_on_device(3 * 2 * 9);
    cuda::conv2d_backward_weight(dw, nullptr, g, x, in, 3, window, nullptr);
    cuda::conv2d_backward_weight(again, nullptr, g, x, in, 3, window, nullptr);
    CHECK(bits(dw.read()) == bits(again.read()));
}

}  // namespace
}  // namespace mini::kernels
