#include "tests/kernels/cuda/support.hpp"

namespace mini::kernels {
namespace {

double dot(const std::vector<float>& values, size_t r, size_t a, size_t b) {
    double sum = 0.0;
    for (size_t row = 0; row < values.size(); row += r)
        sum += double{values[row + a]} * double{values[row + b]};
    return sum;
}

TEST_CASE("orthogonalize returns orthonormal columns with the same span") {
    const int64_t n = GENERATE(4, 31, 257, 1000);
    const size_t r = GENERATE(1, 2, 4);
    CAPTURE(n, r);
    const auto before = normal_numbers(n * static_cast<int64_t>(r));
    const OnDevice<float> device(before);
    cuda::orthogonalize(device, n, static_cast<int64_t>(r), 0.0, nullptr);
    const auto after = device.read();
    for (size_t a = 0; a < r; ++a)
        for (size_t b = 0; b <= a; ++b) {
            CAPTURE(a, b);
            // Each element is rounded to float, which changes a dot product by about
            // 2^-24.
            CHECK(std::abs(dot(after, r, a, b) - (a == b ? 1.0 : 0.0)) <= 1e-6);
        }

    // The old column a is in the span of the new columns 0 to a.
    for (size_t a = 0; a < r; ++a) {
        double length = 0.0, spanned = 0.0;
        for (size_t row = 0; row < before.size(); row += r)
            length += double{before[row + a]} * double{before[row + a]};
        for (size_t b = 0; b <= a; ++b) {
            double along = 0.0;
            for (size_t row = 0; row < before.size(); row += r)
                along += double{before[row + a]} * double{after[row + b]};
            spanned += along * along;
        }
        CHECK(std::abs(spanned / length - 1.0) <= 1e-5);
    }
}

TEST_CASE("a linearly dependent column becomes zero") {
    // The columns x, 2 x and x².
    std::vector<float> values;
    for (const float x : normal_numbers(100))
        values.insert(values.end(), {x, 2.0f * x, x * x});
    const OnDevice<float> device(values);
    cuda::orthogonalize(device, 100, 3, 0.0, nullptr);
    const auto after = device.read();
    CHECK(dot(after, 3, 1, 1) == 0.0);
    CHECK(std::abs(dot(after, 3, 2, 2) - 1.0) <= 1e-6);
}

}  // namespace
}  // namespace mini::kernels
