// sum_error: how wrong is a sum of n floats, added in order and in pairs?
//
//     sum_error             prints the table that measure.py reads
//
// No clock is involved: the numbers are the same on every machine.

#include <fmt/format.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iostream>
#include <random>
#include <vector>

#include "libmini/kernels/kernels.hpp"

namespace {

constexpr int kArrays = 16;
constexpr int64_t kMost = int64_t{1} << 24;
constexpr int64_t kOnes = 20'000'000;

float sum_in_order(const float* x, int64_t n) {
    float total = 0.0f;
    for (int64_t i = 0; i < n; ++i) total += x[i];
    return total;
}

float sum_in_pairs(const float* x, int64_t n) {
    float total = 0.0f;
    mini::kernels::cpu::sum(&total, x, 1, n, 1);
    return total;
}

// Multiples of 2^-24 from 0 to 1: a sum of 2^24 of them is exact in double.
std::vector<float> random_numbers(unsigned seed) {
    std::mt19937 generator(seed);
    std::vector<float> values(static_cast<size_t>(kMost));
    for (float& value : values)
        value = std::ldexp(static_cast<float>(generator() >> 8), -24);
    return values;
}

// The squares of relative errors, added for several arrays.
struct Errors {
    double in_order = 0, in_pairs = 0;

    void add(const float* x, int64_t n) {
        double exact = 0;
        for (int64_t i = 0; i < n; ++i) exact += double{x[i]};
        in_order += std::pow(sum_in_order(x, n) / exact - 1, 2);
        in_pairs += std::pow(sum_in_pairs(x, n) / exact - 1, 2);
    }
};

}  // namespace

int main() {
    std::vector<int64_t> sizes;
    for (int64_t n = 16; n <= kMost; n *= 4) sizes.push_back(n);

    std::vector<Errors> random(sizes.size()), equal(sizes.size());
    for (unsigned seed = 0; seed < kArrays; ++seed) {
        const std::vector<float> x = random_numbers(seed);
        for (size_t k = 0; k < sizes.size(); ++k) random[k].add(x.data(), sizes[k]);
    }
    const std::vector<float> tenths(static_cast<size_t>(kMost), 0.1f);
    for (size_t k = 0; k < sizes.size(); ++k) equal[k].add(tenths.data(), sizes[k]);

    std::cout << "Relative errors; of random numbers the root mean square of " << kArrays
              << " arrays\n\n"
              << "         n   random, in order   in pairs    0.1, in order   in pairs\n";
    for (size_t k = 0; k < sizes.size(); ++k)
        std::cout << fmt::format("{:10} {:18.2e} {:10.2e} {:16.2e} {:10.2e}\n", sizes[k],
                                 std::sqrt(random[k].in_order / kArrays),
                                 std::sqrt(random[k].in_pairs / kArrays),
                                 std::sqrt(equal[k].in_order),
                                 std::sqrt(equal[k].in_pairs));

    const std::vector<float> ones(static_cast<size_t>(kOnes), 1.0f);
    std::cout << fmt::format("\n{} ones: in order {}, in pairs {}\n", kOnes,
                             sum_in_order(ones.data(), kOnes),
                             sum_in_pairs(ones.data(), kOnes));
    return 0;
}
