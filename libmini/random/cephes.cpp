#include "libmini/random/cephes.hpp"

#include <array>
#include <cmath>
#include <numbers>
#include <span>

namespace mini {
namespace {

// Returns c[0] x^n + ... + c[n], by Horner's rule.
float polynomial(float x, std::span<const float> coefficients) {
    float sum = coefficients[0];
    for (const float coefficient : coefficients.subspan(1))
        sum = std::fma(sum, x, coefficient);
    return sum;
}

constexpr std::array kLog = {7.0376836292e-2f,  -1.1514610310e-1f, 1.1676998740e-1f,
                             -1.2420140846e-1f, 1.4249322787e-1f,  -1.6668057665e-1f,
                             2.0000714765e-1f,  -2.4999993993e-1f, 3.3333331174e-1f};
constexpr std::array kSin = {-1.9515295891e-4f, 8.3321608736e-3f, -1.6666654611e-1f};
constexpr std::array kCos = {2.443315711809948e-5f, -1.388731625493765e-3f,
                             4.166664568298827e-2f};

// log(2) and pi / 4 as sums of parts. The product of a small integer and any part but the
// last is exact.
constexpr float kLog2High = 0.693359375f, kLog2Low = -2.12194440e-4f;
constexpr std::array kQuarterTurn = {0.78515625f, 2.4187564849853515625e-4f,
                                     3.77489497744594108e-8f};

}  // namespace

float cephes_log(float x) {
    // x = (1 + m) 2^e with 1 + m from sqrt(1/2) to sqrt(2)
    int exponent = 0;
    float m = std::frexp(x, &exponent);
    if (m < static_cast<float>(std::numbers::sqrt2 / 2)) {
        m *= 2;
        --exponent;
    }
    m -= 1;
    const auto e = static_cast<float>(exponent);

    // log(1 + m) = m - m² / 2 + m³ P(m)
    const float square = m * m;
    const float rest = std::fma(polynomial(m, kLog) * m, square, e * kLog2Low);
    return std::fma(e, kLog2High, m + std::fma(-0.5f, square, rest));
}

SinCos cephes_sincos(float x) {
    // Reduce x by the nearest even multiple of pi / 4, to the range -pi / 4 to pi / 4.
    const int eighths =
        (static_cast<int>(x * static_cast<float>(4 * std::numbers::inv_pi)) + 1) & ~1;
    const auto quarters = static_cast<float>(eighths);
    for (const float part : kQuarterTurn) x = std::fma(-quarters, part, x);

    const float square = x * x;
    const float cos =
        std::fma(polynomial(square, kCos) * square, square, -0.5f * square) + 1;
    const float sin = std::fma(polynomial(square, kSin) * square, x, x);
    switch (eighths % 8) {
        case 0: return {sin, cos};
        case 2: return {cos, -sin};
        case 4: return {-sin, -cos};
        default: return {-cos, sin};
    }
}

}  // namespace mini
