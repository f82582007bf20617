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

// Checks conv2d and its gradients against the CPU's results on integers, so that every
// product and sum is exact in any order.
void check_convolution(const Convolution& conv, bool with_bias) {
    const auto& [in, O, window] = conv;
    CAPTURE(in.N, in.C, in.H, in.W, O, window.kernel, window.stride, window.padding,
            with_bias);
    const int64_t x_size = in.N * in.C * in.H * in.W;
    const int64_t w_size = O * in.C * window.kernel * window.kernel;
    const int64_t y_size = in.N * O * window.output(in.H) * window.output(in.W);
    Both x(small_integers(x_size, 1)), w(small_integers(w_size, 2));
    Both bias(small_integers(O, 3)), g(small_integers(y_size, 4));
    Both y(unwritten(y_size)), dx(unwritten(x_size)), dw(unwritten(w_size));
    Both dbias(unwritten(O));

    run_both<cpu::conv2d, cuda::conv2d>(y, x, w, with_bias ? &bias : nullptr, in, O,
                                        window);
    run_both<cpu::conv2d_backward_input, cuda::conv2d_backward_input>(dx, g, w, in, O,
                                                                      window);
    run_both<cpu::conv2d_backward_weight, cuda::conv2d_backward_weight>(
        dw, with_bias ? &dbias : nullptr, g, x, in, O, window);
    for (const auto* const result : {&y, &dx, &dw, &dbias})
        CHECK(first_difference(result->read(), result->host) == kNoDifference);
}

TEST_CASE("conv2d and its gradients equal the CPU's results on integers") {
    const auto conv =
        GENERATE(from_range(std::begin(kConvolutions), std::end(kConvolutions)));
    check_convolution(conv, GENERATE(false, true));
}

TEST_CASE("slices of a batch are convolved one after the other", "[large]") {
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
