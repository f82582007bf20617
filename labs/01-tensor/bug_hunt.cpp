// A bug hunt: three rods in a table, one in each column. Their ends keep a fixed
// temperature, and heat flows between, until nothing changes. Then the temperatures of a
// rod must be on a straight line. The program finds something else. Find out why.
//
//     lab01_bug_hunt        prints the rods; exits with 1 while a bug is left
//
// Both mistakes are legal uses of views, so the library throws no error.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iostream>
#include <vector>

#include "libmini/tensor/ops.hpp"
#include "libmini/tensor/tensor.hpp"

namespace {

using namespace mini;

constexpr int64_t kRods = 3;
constexpr int kMostSteps = 5000;
constexpr float kLeft[kRods] = {0, 100, 20}, kRight[kRods] = {80, 20, 60};

// Returns a table of n places on each rod: the ends are as above, all else is 50.
Tensor make_table(int64_t n) {
    std::vector<float> values(static_cast<size_t>(n * kRods), 50.0f);
    std::ranges::copy(kLeft, values.begin());
    std::ranges::copy(kRight, values.end() - kRods);
    return Tensor::from(values, {n, kRods}, Device::cpu());
}

// Returns the largest difference of two elements.
float largest_difference(const Tensor& a, const Tensor& b) {
    float largest = 0;
    for (const float each : ops::contiguous(ops::sub(a, b)).to_vector<float>())
        largest = std::max(largest, std::abs(each));
    return largest;
}

// Lets heat flow in one rod, a view of a column. In a step each inner place gets the mean
// of a window of three: its left neighbour, itself, and its right neighbour. Returns the
// number of steps until nothing changes.
int let_heat_flow(Tensor rod) {
    const int64_t inner = rod.size(0) - 2;
    const Tensor third = Tensor::scalar(1.0f / 3);
    for (int step = 1; step < kMostSteps; ++step) {
        const Tensor before = rod;
        const Tensor windows = rod.as_strided({inner, 3}, {1, 1}, rod.offset());
        Tensor places = ops::narrow(rod, 0, 1, inner);
        ops::copy_(places, ops::mul(ops::sum(windows, {1}, false), third));
        if (largest_difference(rod, before) < 1e-5f) return step;
    }
    return kMostSteps;
}

// Returns the largest distance of a rod from a straight line between its ends.
double distance_from_line(const std::vector<float>& rod, size_t which) {
    double largest = 0;
    for (size_t i = 0; i < rod.size(); ++i) {
        const double part = static_cast<double>(i) / static_cast<double>(rod.size() - 1);
        const double line = kLeft[which] + (double{kRight[which]} - kLeft[which]) * part;
        largest = std::max(largest, std::abs(rod[i] - line));
    }
    return largest;
}

}  // namespace

int main() {
    bool right = true;
    for (const int64_t n : {5, 9, 17}) {
        const Tensor table = make_table(n);
        for (int64_t k = 0; k < kRods; ++k) {
            const Tensor rod = ops::select(table, 1, k);
            const int steps = let_heat_flow(rod);
            const double distance = distance_from_line(
                ops::contiguous(rod).to_vector<float>(), static_cast<size_t>(k));
            right = right && distance < 0.1;
            std::cout << fmt::format(
                "{:2} places, rod {}: {:3} steps, {:.2f} degrees from a straight line\n",
                n, k, steps, distance);
        }
    }
    std::cout << (right ? "the rods are right\n" : "the rods are wrong\n");
    return right ? 0 : 1;
}
