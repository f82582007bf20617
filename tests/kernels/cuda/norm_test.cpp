#include "tests/kernels/cuda/support.hpp"

namespace mini::kernels {
namespace {

constexpr ChannelExtents kExtents[] = {
    {1, 1, 1},   {1, 1, 2},    {7, 3, 1},    {33, 10, 1}, {2, 3, 31},   {4, 5, 64},
    {3, 2, 257}, {5, 1, 4000}, {300, 2, 31}, {0, 3, 4},   {3, 0, 4},    {129, 65, 1},
    {129, 2, 4}, {6, 30, 3},   {9, 5, 16},   {9, 5, 17},  {8200, 1, 1},
};

TEST_CASE("channel moments equal the CPU's results even with a large mean") {
    const auto extents = GENERATE(from_range(std::begin(kExtents), std::end(kExtents)));
    const float origin = GENERATE(0.0f, 1000.0f);
    CAPTURE(extents.N, extents.C, extents.space, origin);
    auto values = normal_numbers(extents.N * extents.C * extents.space);
    for (float& value : values) value += origin;

    Both x(values), mean(unwritten(extents.C)), variance(unwritten(extents.C));
    run_both<cpu::channel_moments, cuda::channel_moments>(mean, variance, x, extents);
    // CPU and GPU compute the sums in double and round the result to float once.
    CHECK(max_error(mean.read(), mean.host) <= 2 * kUnitRoundoff);
    CHECK(max_error(variance.read(), variance.host) <= 2 * kUnitRoundoff);
}

TEST_CASE("a constant channel has variance 0") {
    const ChannelExtents extents{3, 2, 100};
    const OnDevice<float> x(std::vector<float>(600, 0.1f));
    const auto mean = unwritten_on_device(2), variance = unwritten_on_device(2);
    cuda::channel_moments(mean, variance, x, extents, nullptr);
    CHECK(mean.read() == std::vector<float>{0.1f, 0.1f});
    CHECK(variance.read() == std::vector<float>{0.0f, 0.0f});
}

TEST_CASE("batch norm and its gradient equal the CPU's results") {
    const auto extents = GENERATE(from_range(std::begin(kExtents), std::end(kExtents)));
    const bool affine = GENERATE(false, true), of_batch = GENERATE(false, true);
    const size_t skip = GENERATE(0, 1);
    CAPTURE(extents.N, extents.C, extents.space, affine, of_batch, skip);
    const int64_t n = extents.N * extents.C * extents.space, C = extents.C;
    Both x(normal_numbers(n, 1), skip), g(normal_numbers(n, 2), skip);
    Both weight(normal_numbers(C, 3)), bias(normal_numbers(C, 4));
    Both mean(normal_numbers(C, 5));
    Both variance(std::vector<float>(static_cast<size_t>(C), 0.8f));

    Both y(unwritten(n), skip);
    run_both<cpu::batch_norm, cuda::batch_norm>(y, x, mean, variance,
                                                affine ? &weight : nullptr,
                                                affine ? &bias : nullptr, extents, 1e-5);
    // Five roundings of terms up to about 20.
    CHECK(max_error(y.read(), y.host) <= 100 * kUnitRoundoff);

    Both dx(unwritten(n), skip), dweight(unwritten(C)), dbias(unwritten(C));
    run_both<cpu::batch_norm_backward, cuda::batch_norm_backward>(
        dx, dweight, dbias, g, x, mean, variance, affine ? &weight : nullptr, extents,
        BatchNormBackward{.eps = 1e-5, .of_batch = of_batch});
    CHECK(max_error(dweight.read(), dweight.host) <= 2 * kUnitRoundoff);
    CHECK(max_error(dbias.read(), dbias.host) <= 2 * kUnitRoundoff);
    CHECK(max_error(dx.read(), dx.host) <= 100 * kUnitRoundoff);
}

}  // namespace
}  // namespace mini::kernels
