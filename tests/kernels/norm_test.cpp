#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "libmini/kernels/kernels.hpp"
#include "tests/kernels/support.hpp"
#include "tests/support/catch.hpp"

namespace mini::kernels {
namespace {

// Images, rows (space 1), one channel, and channels longer than one SIMD vector.
const std::vector<ChannelExtents> kExtents = {{4, 3, 6},    {7, 5, 1},  {2, 1, 33},
                                              {3, 2, 97},   {1, 4, 64}, {64, 70, 16},
                                              {40, 300, 1}, {1, 129, 1}};

int64_t size_of(const ChannelExtents& extents) {
    return extents.N * extents.C * extents.space;
}

struct MomentsOfX {
    std::vector<float> mean, variance;
};

MomentsOfX moments_of(const std::vector<float>& x, const ChannelExtents& extents) {
    MomentsOfX moments{unwritten(extents.C), unwritten(extents.C)};
    cpu::channel_moments(moments.mean.data(), moments.variance.data(), x.data(), extents);
    return moments;
}

// Returns the moments by their definition, computed in double. Element i of x belongs to
// channel i / space % C.
MomentsOfX moments_by_definition(const std::vector<float>& x,
                                 const ChannelExtents& extents) {
    MomentsOfX moments;
    for (int64_t c = 0; c < extents.C; ++c) {
        double sum = 0.0, squares = 0.0;
        const auto is_of_c = [&](int64_t i) {
            return i / extents.space % extents.C == c;
        };
        for (int64_t i = 0; i < size_of(extents); ++i)
            if (is_of_c(i)) sum += x[i];
        const double mean = sum / static_cast<double>(extents.per_channel());
        for (int64_t i = 0; i < size_of(extents); ++i)
            if (is_of_c(i)) squares += (x[i] - mean) * (x[i] - mean);
        moments.mean.push_back(static_cast<float>(mean));
        moments.variance.push_back(
            static_cast<float>(squares / static_cast<double>(extents.per_channel())));
    }
    return moments;
}

}  // namespace

TEST_CASE("channel moments equal their definition even with a large mean") {
    const ChannelExtents extents = GENERATE(from_range(kExtents));
    const float shift = GENERATE(0.0f, 4096.0f);
    CAPTURE(extents.N, extents.C, extents.space, shift);
    std::vector<float> x = normal_numbers(size_of(extents));
    for (float& value : x) value += shift;
    const MomentsOfX out = moments_of(x, extents);
    const MomentsOfX expected = moments_by_definition(x, extents);
    for (size_t c = 0; c < out.mean.size(); ++c) {
        // Both sides are sums in double, rounded once, so their last bits may differ.
        CHECK(std::abs(out.mean[c] - expected.mean[c]) <=
              2e-7f * std::abs(expected.mean[c]) + 1e-9f);
        CHECK(std::abs(out.variance[c] - expected.variance[c]) <=
              2e-7f * expected.variance[c]);
    }
}

TEST_CASE("the moments of rows are accurate if the first row is far from the others") {
    const ChannelExtents extents = {1000, 3, 1};
    std::vector<float> x = normal_numbers(size_of(extents));
    for (size_t c = 0; c < 3; ++c) x[c] = 1e6f;
    const MomentsOfX out = moments_of(x, extents);
    const MomentsOfX expected = moments_by_definition(x, extents);
    for (size_t c = 0; c < 3; ++c) {
        CHECK(std::abs(out.mean[c] - expected.mean[c]) <= 2e-7f * expected.mean[c]);
        CHECK(std::abs(out.variance[c] - expected.variance[c]) <=
              2e-7f * expected.variance[c]);
    }
}

TEST_CASE("a normalised channel has mean 0 and variance 1") {
    const ChannelExtents extents =
        GENERATE(values<ChannelExtents>({{8, 5, 49}, {400, 5, 1}}));
    const std::vector<float> x = normal_numbers(size_of(extents));
    const MomentsOfX moments = moments_of(x, extents);
    std::vector<float> y = unwritten(size_of(extents));
    cpu::batch_norm(y.data(), x.data(), moments.mean.data(), moments.variance.data(),
                    nullptr, nullptr, extents, 0.0);
    const MomentsOfX after = moments_of(y, extents);
    for (size_t c = 0; c < 5; ++c) {
        CHECK(std::abs(after.mean[c]) < 1e-6f);
        CHECK(std::abs(after.variance[c] - 1.0f) < 1e-6f);
    }
}

TEST_CASE("batch normalisation is bitwise identical for any number of threads") {
    const ChannelExtents extents =
        GENERATE(values<ChannelExtents>({{64, 70, 16}, {64, 300, 1}}));
    const std::vector<float> x = normal_numbers(size_of(extents), 1);
    const std::vector<float> g = normal_numbers(size_of(extents), 2);
    const std::vector<float> weight = normal_numbers(extents.C, 3);
    const MomentsOfX moments = moments_of(x, extents);

    CHECK(identical_for_any_threads([&] { return moments_of(x, extents).mean; }));
    CHECK(identical_for_any_threads([&] { return moments_of(x, extents).variance; }));
    CHECK(identical_for_any_threads([&] {
        std::vector<float> y = unwritten(size_of(extents));
        cpu::batch_norm(y.data(), x.data(), moments.mean.data(), moments.variance.data(),
                        weight.data(), weight.data(), extents, 1e-5);
        return y;
    }));
    CHECK(identical_for_any_threads([&] {
        // dx, followed by dweight and dbias.
        std::vector<float> all = unwritten(size_of(extents) + 2 * extents.C);
        float* const dweight = all.data() + size_of(extents);
        cpu::batch_norm_backward(all.data(), dweight, dweight + extents.C, g.data(),
                                 x.data(), moments.mean.data(), moments.variance.data(),
                                 weight.data(), extents, {});
        return all;
    }));
}

}  // namespace mini::kernels
