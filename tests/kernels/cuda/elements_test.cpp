#include <cmath>
#include <cstdint>
#include <cstring>
#include <random>
#include <type_traits>
#include <vector>

#include "tests/kernels/cuda/support.hpp"

namespace mini::kernels {
namespace {

// Converts an element as the kernels do: through float if a type has 16 bits.
template <typename To, typename From>
To cast(From value) {
    return static_cast<To>(static_cast<OpMath<To>>(static_cast<OpMath<From>>(value)));
}

template <typename To, typename From>
std::vector<To> cast_all(const std::vector<From>& values) {
    std::vector<To> result;
    for (const From value : values) result.push_back(cast<To>(value));
    return result;
}

template <typename T>
bool same_bytes(const std::vector<T>& a, const std::vector<T>& b) {
    return a.size() == b.size() &&
           (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0);
}

// Returns n small numbers of type T: integers from 1 to 9 for uint8, else
// multiples of 1.5, which int64 truncates.
template <typename T>
std::vector<T> numbers(int64_t n, unsigned seed) {
    std::vector<T> result;
    for (const float digit : small_integers(n, seed))
        result.push_back(
            cast<T>(std::is_same_v<T, uint8_t> ? digit + 5.0f : digit * 1.5f));
    return result;
}

template <typename To, typename From>
bool converts(const std::vector<From>& x, size_t skip) {
    const OnDevice<From> device_x(x, skip);
    const OnDevice<To> out(std::vector<To>(x.size()), skip);
    cuda::convert(out, device_x, static_cast<int64_t>(x.size()), dtype_of<To>(),
                  dtype_of<From>(), nullptr);
    return same_bytes(out.read(), cast_all<To>(x));
}

template <typename From>
void check_conversions(const std::vector<From>& x, size_t skip) {
    CHECK(converts<float>(x, skip));
    CHECK(converts<int64_t>(x, skip));
    CHECK(converts<Half>(x, skip));
    CHECK(converts<BFloat16>(x, skip));
}

TEST_CASE("every element type is converted to every other type") {
    const int64_t n = GENERATE(0, 1, 31, 257, 1000);
    const size_t skip = GENERATE(0, 1);
    CAPTURE(n, skip);
    check_conversions(numbers<float>(n, 1), skip);
    check_conversions(numbers<int64_t>(n, 2), skip);
    check_conversions(numbers<uint8_t>(n, 3), skip);
    check_conversions(numbers<Half>(n, 4), skip);
    check_conversions(numbers<BFloat16>(n, 5), skip);

    const auto small = numbers<uint8_t>(n, 6);
    CHECK(converts<uint8_t>(cast_all<float>(small), skip));
    CHECK(converts<uint8_t>(cast_all<int64_t>(small), skip));
    CHECK(converts<uint8_t>(small, skip));
    CHECK(converts<uint8_t>(cast_all<Half>(small), skip));
    CHECK(converts<uint8_t>(cast_all<BFloat16>(small), skip));
}

TEST_CASE("floats of all magnitudes are rounded to 16 bits as on the CPU") {
    std::vector<float> x{0.0f,     -0.0f,    kInf,     -kInf, kNaN,
                         65504.0f, 65519.9f, 65520.0f, 1e30f};
    std::mt19937 generator(7);
    for (int exponent = -30; exponent <= 20; ++exponent)
        for (int i = 0; i < 40; ++i)
            x.push_back(
                std::ldexp(1.0f + static_cast<float>(generator()) * 0x1p-32f, exponent));
    CHECK(converts<Half>(x, 0));
    CHECK(converts<BFloat16>(x, 0));

    std::vector<Half> halves;
    std::vector<BFloat16> brains;
    for (unsigned word = 0; word < 65536; word += 3) {
        halves.push_back(Half::from_bits(static_cast<uint16_t>(word)));
        brains.push_back(BFloat16::from_bits(static_cast<uint16_t>(word)));
    }
    CHECK(converts<float>(halves, 0));
    CHECK(converts<float>(brains, 0));
}

template <typename T>
bool fills(double value, int64_t n, size_t skip) {
    const OnDevice<T> out(std::vector<T>(static_cast<size_t>(n)), skip);
    cuda::fill_elements(out, value, n, dtype_of<T>(), nullptr);
    const T expected = static_cast<T>(static_cast<OpMath<T>>(value));
    return same_bytes(out.read(), std::vector<T>(static_cast<size_t>(n), expected));
}

TEST_CASE("fill_elements fills an array of every type") {
    const int64_t n = GENERATE(0, 1, 33, 1000);
    const size_t skip = GENERATE(0, 1);
    CHECK(fills<float>(0.1, n, skip));
    CHECK(fills<int64_t>(1e15, n, skip));
    CHECK(fills<uint8_t>(200.0, n, skip));
    CHECK(fills<Half>(0.1, n, skip));
    CHECK(fills<BFloat16>(0.1, n, skip));
}

TEST_CASE("increment adds 1 to every element") {
    const int64_t n = GENERATE(0, 1, 31, 257, 1000);
    const size_t skip = GENERATE(0, 1);
    const auto x = numbers<int64_t>(n, 1);
    auto expected = x;
    for (int64_t& value : expected) ++value;
    const OnDevice<int64_t> device_x(x, skip);
    cuda::increment(device_x, n, nullptr);
    CHECK(device_x.read() == expected);
}

}  // namespace
}  // namespace mini::kernels
