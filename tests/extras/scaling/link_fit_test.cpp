#include "libmini/extras/scaling/link_fit.hpp"

#include <cmath>
#include <vector>

#include "libmini/core/error.hpp"
#include "tests/support/catch.hpp"

namespace mini::scaling {
namespace {

constexpr double kAlpha = 20e-6, kBeta = 1e-9;

Measurement measurement(double messages, double bytes, double factor = 1) {
    return {messages, bytes, factor * (kAlpha * messages + kBeta * bytes)};
}

bool is_near(double value, double expected, double relative) {
    return std::abs(value - expected) <= relative * expected;
}

TEST_CASE("exact times give exactly the alpha and beta of their link") {
    const std::vector<Measurement> exact{measurement(1, 4), measurement(6, 1e5),
                                         measurement(1, 1 << 24), measurement(14, 4e6)};
    const LinkFit fit = fit_link(exact);
    CHECK(is_near(fit.alpha, kAlpha, 1e-9));
    CHECK(is_near(fit.beta, kBeta, 1e-9));
    CHECK(largest_error(fit, exact) < 1e-9);
    CHECK(largest_error(fit, {}) == 0);
}

// With weights that depend on seconds, 3 % more on the largest size would be 30 times the
// whole time of a small message.
TEST_CASE(
    "an error of 3 percent on the largest size moves alpha by less than 1 percent") {
    const std::vector<Measurement> measured{measurement(1, 4), measurement(1, 64),
                                            measurement(1, 1 << 20),
                                            measurement(1, 1 << 24, 1.03)};
    const LinkFit fit = fit_link(measured);
    CHECK(is_near(fit.alpha, kAlpha, 0.01));
    CHECK(is_near(fit.beta, kBeta, 0.03));
    CHECK(largest_error(fit, measured) < 0.03);
}

TEST_CASE("measurements that cannot separate alpha and beta are rejected") {
    CHECK_THROWS_AS(fit_link({}), UsageError);
    CHECK_THROWS_AS(fit_link(std::vector{measurement(1, 4)}), UsageError);
    CHECK_THROWS_AS(fit_link(std::vector{measurement(1, 4), measurement(2, 8)}),
                    UsageError);
    CHECK_THROWS_AS(fit_link(std::vector{measurement(1, 4), measurement(1, 8, 0)}),
                    UsageError);
    CHECK_THROWS_AS(fit_link(std::vector{measurement(1, 4), measurement(1, 8, NAN)}),
                    UsageError);
}

}  // namespace
}  // namespace mini::scaling
