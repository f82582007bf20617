// Helpers for the tests of the kernels: input values, and a check that results are
// bitwise identical for any number of threads.

#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "libmini/core/parallel.hpp"

namespace mini::kernels {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

/// Returns n integers from -4 to 4. Their products and sums are exact in any order while
/// they are below 2^24, so a kernel's result must be bitwise identical to its definition.
inline std::vector<float> small_integers(int64_t n, unsigned seed = 1) {
    std::mt19937 generator(seed);
    std::uniform_int_distribution<int> digit(-4, 4);
    std::vector<float> values(static_cast<size_t>(n));
    for (float& value : values) value = static_cast<float>(digit(generator));
    return values;
}

/// Returns n normally distributed numbers. Their sums are rounded, so the result depends
/// on the order of summation.
inline std::vector<float> normal_numbers(int64_t n, unsigned seed = 1) {
    std::mt19937 generator(seed);
    std::normal_distribution<float> normal;
    std::vector<float> values(static_cast<size_t>(n));
    for (float& value : values) value = normal(generator);
    return values;
}

/// Returns an output array of n elements with a value that no kernel computes, to detect
/// elements that a kernel does not write.
inline std::vector<float> unwritten(int64_t n) {
    return std::vector<float>(static_cast<size_t>(n), 12345.0f);
}

constexpr int64_t kNoDifference = -1;

/// Returns the first index at which two results differ, or kNoDifference. A failed test
/// prints this index instead of two long arrays.
template <typename T>
int64_t first_difference(const std::vector<T>& a, const std::vector<T>& b) {
    const auto [in_a, in_b] = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
    return in_a == a.end() && in_b == b.end() ? kNoDifference : in_a - a.begin();
}

/// Returns the bits of each float, for comparisons in which a NaN equals itself and 0
/// differs from -0.
inline std::vector<uint32_t> bits(const std::vector<float>& values) {
    std::vector<uint32_t> result;
    for (const float value : values) result.push_back(std::bit_cast<uint32_t>(value));
    return result;
}

/// Returns whether compute() returns bitwise identical floats with 1, 2 and 3 threads.
template <typename Compute>
bool identical_for_any_threads(Compute compute) {
    const auto expected = bits(compute());
    bool same = true;
    for (const int threads : {2, 3}) {
        set_num_threads(threads);
        same = same && bits(compute()) == expected;
    }
    set_num_threads(1);
    return same;
}

}  // namespace mini::kernels
