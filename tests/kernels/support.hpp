// What the tests of the kernels share: numbers to compute with, and the check that the
// number of threads does not change a bit.

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

/// n whole numbers from -4 to 4: their products and sums are exact, in any order, as long
/// as they stay below 2^24, so a kernel can be compared with its definition bit for bit.
inline std::vector<float> whole_numbers(int64_t n, unsigned seed = 1) {
    std::mt19937 generator(seed);
    std::uniform_int_distribution<int> digit(-4, 4);
    std::vector<float> values(static_cast<size_t>(n));
    for (float& value : values) value = static_cast<float>(digit(generator));
    return values;
}

/// n numbers whose sums are rounded, so that they tell one order of summation from
/// another.
inline std::vector<float> rough_numbers(int64_t n, unsigned seed = 1) {
    std::mt19937 generator(seed);
    std::normal_distribution<float> normal;
    std::vector<float> values(static_cast<size_t>(n));
    for (float& value : values) value = normal(generator);
    return values;
}

/// A result that no kernel computes: what it leaves unwritten shows.
inline std::vector<float> unwritten(int64_t n) {
    return std::vector<float>(static_cast<size_t>(n), 12345.0f);
}

constexpr int64_t kNowhere = -1;

/// The first place where two results differ, or kNowhere. A test that fails prints this
/// one number and not two long arrays.
template <typename T>
int64_t first_difference(const std::vector<T>& a, const std::vector<T>& b) {
    const auto [in_a, in_b] = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
    return in_a == a.end() && in_b == b.end() ? kNowhere : in_a - a.begin();
}

/// The bits of floats, for comparisons in which NaN equals NaN and 0 differs from -0.
inline std::vector<uint32_t> bits(const std::vector<float>& values) {
    std::vector<uint32_t> result;
    for (const float value : values) result.push_back(std::bit_cast<uint32_t>(value));
    return result;
}

/// Whether compute() returns the same bits with 1, 2 and 3 threads.
template <typename Compute>
bool same_bits_for_any_threads(Compute compute) {
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
