// Draws the embedded digits: makes 28 x 28 bytes from a digit's skeleton.
//
//     jitter the knots  ->  smooth curve  ->  elastic warp, slant, rotation  ->
//     fit into the box and centre by mass, as in MNIST  ->  ink by distance
//
// The bytes are the same on every machine: the code uses only +, -, *, / and sqrt on
// floats, whose rounding IEEE 754 defines; no sin, no exp, and no fused multiply-add (see
// MiniFlags.cmake). About 10 us per digit.

#pragma once

#include <cstdint>
#include <span>

namespace mini::data {

constexpr int kDigitSide = 28;

/// The random number generator of one picture (Steele et al. 2014). Unlike the Mersenne
/// Twister, it is cheap to seed.
class SplitMix64 {
  public:
    explicit SplitMix64(uint64_t seed) : state_(seed) {}

    /// Returns the next 64 random bits.
    uint64_t next();

    /// Returns a uniform number in [from, to).
    float uniform(float from, float to);

    /// Returns an approximately normal number with mean 0 and this standard deviation, of
    /// absolute value at most 3.5 standard deviations.
    float normal(float deviation);

    /// Returns a random integer in 0 .. count-1.
    int choose(int count);

  private:
    uint64_t state_;
};

/// Draws `digit`, 0 to 9, into `pixels`, with random numbers of `random`. REQUIRES:
/// pixels (28, 28), all 0.
void draw_digit(std::span<uint8_t> pixels, int digit, SplitMix64& random);

}  // namespace mini::data
