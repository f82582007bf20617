#include "tests/kernels/cuda/support.hpp"

namespace mini::kernels {
namespace {

struct Pool {
    ImageExtents in;
    Window window;
};

constexpr Pool kPools[] = {
    {{1, 1, 2, 2}, {2, 2, 0}}, {{1, 3, 7, 5}, {2, 2, 0}}, {{2, 3, 8, 8}, {3, 2, 1}},
    {{2, 1, 9, 4}, {3, 1, 1}}, {{1, 2, 5, 5}, {5, 5, 0}}, {{3, 2, 11, 13}, {2, 3, 0}},
    {{0, 2, 4, 4}, {2, 2, 0}},
};

TEST_CASE("max pooling and its gradient are bitwise identical to the CPU's") {
    const auto [in, window] = GENERATE(from_range(std::begin(kPools), std::end(kPools)));
    CAPTURE(in.N, in.C, in.H, in.W, window.kernel, window.stride, window.padding);
    const int64_t n = in.N * in.C * in.H * in.W;
    const int64_t m = in.N * in.C * window.output(in.H) * window.output(in.W);
    auto values = small_integers(n);  // with many ties
    if (n > 20) {
        values[5] = kNaN;
        values[12] = -kInf;
    }
    Both x(values), y(unwritten(m)), dx(unwritten(n)), g(normal_numbers(m, 2));
    Both where(std::vector<int32_t>(static_cast<size_t>(m), -7));
    run_both<cpu::max_pool2d, cuda::max_pool2d>(y, where, x, in, window);
    run_both<cpu::max_pool2d_backward, cuda::max_pool2d_backward>(dx, g, where, in,
                                                                  window);
    CHECK(bits(y.read()) == bits(y.host));
    CHECK(where.read() == where.host);
    CHECK(bits(dx.read()) == bits(dx.host));
}

}  // namespace
}  // namespace mini::kernels
