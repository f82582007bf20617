// step_size: the error of numerical gradients for steps from 1 down to 1e-6.
//
//     step_size                 prints the table that measure.py draws
//
// The function is exp, at 16 numbers between -1 and 1, because its derivative is known
// and all derivatives are about 1. Each figure is the largest |error| / max(1, |slope|);
// grad_check multiplies both by the weight of the point, and takes the numerical slope:
//
//     central     grad_check: the central difference of float values
//     offset      grad_check of exp(x) + 1000, whose values have a larger rounding error
//     one-sided   (f(x + h) - f(x)) / h of float values
//     double      the central difference of double values
//
// Exit codes: 0 done.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iostream>
#include <limits>
#include <vector>

#include "libmini/autograd/functions.hpp"
#include "libmini/autograd/grad_check.hpp"

using namespace mini;

namespace {

using Inputs = std::vector<Tensor>;

constexpr int kPoints = 16, kStepsPerDecade = 2, kDecades = 6;

double relative(double error, double exact) {
    return std::abs(error) / std::max(1.0, std::abs(exact));
}

// Returns the largest error that grad_check finds; its tolerance accepts every error.
double central(const std::vector<float>& xs, double h, float offset) {
    const auto function = [offset](const Inputs& x) {
        return offset == 0.0f ? mini::exp(x[0]) : mini::exp(x[0]) + offset;
    };
    const GradCheckOptions options{.step = h,
                                   .tolerance = std::numeric_limits<double>::infinity()};
    return grad_check(function, {Tensor::from(xs)}, options).largest_error;
}

double one_sided(const std::vector<float>& xs, double h) {
    std::vector<float> stepped;
    for (const float x : xs) stepped.push_back(static_cast<float>(x + h));
    const auto low = mini::exp(Tensor::from(xs)).to_vector<float>();
    const auto high = mini::exp(Tensor::from(stepped)).to_vector<float>();
    double largest = 0.0;
    for (size_t i = 0; i < xs.size(); ++i) {
        const double distance = static_cast<double>(stepped[i]) - xs[i];
        const double slope = (static_cast<double>(high[i]) - low[i]) / distance;
        const double exact = std::exp(static_cast<double>(xs[i]));
        largest = std::max(largest, relative(slope - exact, exact));
    }
    return largest;
}

double central_in_double(const std::vector<float>& xs, double h) {
    double largest = 0.0;
    for (const double x : xs) {
        const double slope = (std::exp(x + h) - std::exp(x - h)) / (2 * h);
        largest = std::max(largest, relative(slope - std::exp(x), std::exp(x)));
    }
    return largest;
}

}  // namespace

int main() {
    std::vector<float> xs;
    for (int i = 0; i < kPoints; ++i)
        xs.push_back((2.0f * static_cast<float>(i) + 1.0f) / kPoints - 1.0f);
    std::cout << "        h     central      offset   one-sided      double\n";
    for (int k = 0; k <= kDecades * kStepsPerDecade; ++k) {
        const double h = std::pow(10.0, -static_cast<double>(k) / kStepsPerDecade);
        std::cout << fmt::format("  {:.1e}   {:.3e}   {:.3e}   {:.3e}   {:.3e}\n", h,
                                 central(xs, h, 0.0f), central(xs, h, 1000.0f),
                                 one_sided(xs, h), central_in_double(xs, h));
    }
}
