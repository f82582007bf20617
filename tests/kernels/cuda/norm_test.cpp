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
    auto x = normal_numbers(extents.N * extents.C * extents.space);
    for (float& value : x) value += origin;

    auto mean = unwritten(extents.C), variance = unwritten(extents.C);
    cpu::channel_moments(mean.data(), variance.data(), x.data(), extents);
    const OnDevice<float> device_x(x);
    const auto device_mean = unwritten_on_device(extents.C);
    const auto device_variance = unwritten_on_device(extents.C);
    cuda::channel_moments(device_mean, device_variance, device_x, extents, nullptr);

    // CPU and GPU compute the sums in double and round the result to float once.
    CHECK(max_error(device_mean.read(), mean) <= 2 * kUnitRoundoff);
    CHECK(max_error(device_variance.read(), variance) <= 2 * kUnitRoundoff);
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
    const int64_t n = extents.N * extents.C * extents.space;
    const auto x = normal_numbers(n, 1), g = normal_numbers(n, 2);
    const auto weight = normal_numbers(extents.C, 3), bias = normal_numbers(extents.C, 4);
    const auto mean = normal_numbers(extents.C, 5);
    std::vector<float> variance(static_cast<size_t>(extents.C), 0.8f);
    const OnDevice<float> device_x(x, skip), device_g(g, skip), device_weight(weight),
        device_bias(bias), device_mean(mean), device_variance(variance);

    auto y = unwritten(n);
    cpu::batch_norm(y.data(), x.data(), mean.data(), variance.data(),
                    affine ? weight.data() : nullptr, affine ? bias.data() : nullptr,
                    extents, 1e-5);
    const auto device_y = unwritten_on_device(n, skip);
    cuda::batch_norm(device_y, device_x, device_mean, device_variance,
                     affine ? device_weight.get() : nullptr,
                     affine ? device_bias.get() : nullptr, extents, 1e-5, nullptr);
    // Five roundings of terms up to about 20.
    CHECK(max_error(device_y.read(), y) <= 100 * kUnitRoundoff);

    auto dx = unwritten(n), dweight = unwritten(extents.C), dbias = unwritten(extents.C);
    const BatchNormBackward options{.eps = 1e-5, .of_batch = of_batch};
    cpu::batch_norm_backward(dx.data(), dweight.data(), dbias.data(), g.data(), x.data(),
                             mean.data(), variance.data(),
                             affine ? weight.data() : nullptr, extents, options);
    const auto device_dx = unwritten_on_device(n, skip);
    const auto device_dweight = unwritten_on_device(extents.C);
    const auto device_dbias = unwritten_on_device(extents.C);
    cuda::batch_norm_backward(device_dx, device_dweight, device_dbias, device_g, device_x,
                              device_mean, device_variance,
                              affine ? device_weight.get() : nullptr, extents, options,
                              nullptr);
    CHECK(max_error(device_dweight.read(), dweight) <= 2 * kUnitRoundoff);
    CHECK(max_error(device_dbias.read(), dbias) <= 2 * kUnitRoundoff);
    CHECK(max_error(device_dx.read(), dx) <= 100 * kUnitRoundoff);
}

}  // namespace
}  // namespace mini::kernels
