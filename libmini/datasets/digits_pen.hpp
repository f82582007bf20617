// The pen that writes the embedded digits: a skeleton in, 28 x 28 bytes out.
//
//     knots, each moved a little  ->  smooth curve  ->  elastic warp, slant, turn  ->
//     fitted into the box and centred by its mass, as MNIST is  ->  ink by distance
//
// The same bytes on every machine: only +, -, *, / and sqrt on floats, which IEEE 754
// rounds one way; no sin, no exp, and no fused multiply-add (see MiniFlags.cmake). About
// 10 us a digit.

#pragma once

#include <cstdint>
#include <span>

namespace mini::data {

constexpr int kDigitSide = 28;

/// A stream of random numbers of its own for each picture (SplitMix64, Steele et al.
/// 2014): cheap to seed, unlike the Mersenne Twister.
class Chance {
  public:
    explicit Chance(uint64_t seed) : state_(seed) {}

    uint64_t next();

    /// Uniform in [from, to).
    float uniform(float from, float to);

    /// About normal, with this standard deviation; never beyond 3.5 of them.
    float normal(float deviation);

    /// One of 0 .. count-1.
    int choose(int count);

  private:
    uint64_t state_;
};

/// Writes `digit`, 0 to 9, as `chance` has it. REQUIRES: pixels (28, 28).
void draw_digit(std::span<uint8_t> pixels, int digit, Chance& chance);

}  // namespace mini::data
