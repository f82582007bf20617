#include "tests/kernels/cuda/support.hpp"

namespace mini::kernels {
namespace {

struct Pool {
    ImageExtents in;
    Window window;
};

TEST_CASE("max pooling and its gradient are bitwise identical to the CPU's") {
    const auto [in, window] = GENERATE(values<Pool>({
        {{1, 1, 2, 2}, {2, 2, 0}},
        {{1, 3, 7, 5}, {2, 2, 0}},
        {{2, 3, 8, 8}, {3, 2, 1}},
        {{2, 1, 9, 4}, {3, 1, 1}},
        {{1, 2, 5, 5}, {5, 5, 0}},
        {{3, 2, 11, 13}, {2, 3, 0}},
        {{0, 2, 4, 4}, {2, 2, 0}},
    }));
    CAPTURE(in.N, in.C, in.H, in.W, window.kernel, window.stride, window.padding);
    const int64_t n = in.N * in.C * in.H * in.W;
    const int64_t m = in.N * in.C * window.output(in.H) * window.output(in.W);
    auto x = small_integers(n);  // with many ties
    if (n > 20) {
        x[5] = kNaN;
        x[12] = -kInf;
    }
    const auto g = normal_numbers(m, 2);

    auto y = unwritten(m), dx = unwritten(n);
    std::vector<int32_t> where(static_cast<size_t>(m), -7);
    cpu::max_pool2d(y.data(), where.data(), x.data(), in, window);
    cpu::max_pool2d_backward(dx.data(), g.data(), where.data(), in, window);

    const OnDevice<float> device_x(x), device_g(g);
    const auto device_y = unwritten_on_device(m), device_dx = unwritten_on_device(n);
    const OnDevice<int32_t> device_where(
        std::vector<int32_t>(static_cast<size_t>(m), -7));
    cuda::max_pool2d(device_y, device_where, device_x, in, window, nullptr);
    cuda::max_pool2d_backward(device_dx, device_g, device_where, in, window, nullptr);
    CHECK(bits(device_y.read()) == bits(y));
    CHECK(device_where.read() == where);
    CHECK(bits(device_dx.read()) == bits(dx));
}

}  // namespace
}  // namespace mini::kernels
