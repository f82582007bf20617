// The random numbers of Python's random.Random (CPython 3.2 and later).
//
// The generator is the Mersenne Twister. A number below a bound is drawn by rejection:
// draw as many bits as the bound has, and draw again while the number is not below the
// bound:
//
//     randrange(10)      10 has 4 bits:    1101 too large    0110 is 6
//
// Each draw succeeds with a probability of at least 1/2, and all numbers are equally
// likely. torch.randint takes a remainder instead, which is slightly biased.
//
// Reference: CPython's Lib/random.py and Modules/_randommodule.c.

#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "libmini/core/error.hpp"
#include "libmini/random/mersenne_twister.hpp"

namespace mini {

/// Python's `random.Random`: the part that partitioning a dataset needs.
class PythonRandom {
  public:
    /// Seeds by init_by_array with the 32-bit words of |seed|, as CPython does for an
    /// int.
    explicit PythonRandom(int64_t seed);

    /// Returns `bits` random bits, 1 to 64 (`Random.getrandbits`). Up to 32 bits are the
    /// high bits of one word. More than 32 bits take two words: the first word gives the
    /// low 32 bits, the high bits of the second word give the bits above them. Throws
    /// Error for any other number of bits.
    uint64_t getrandbits(int bits);

    /// Returns a uniform number in [0, 1) with 53 random bits; uses two words
    /// (`Random.random`).
    double random();

    /// Returns a uniform integer in [0, bound), by rejection (`Random.randrange`). Throws
    /// Error unless bound is positive.
    template <std::integral Integer>
    Integer randrange(Integer bound) {
        MINI_CHECK(bound > 0, "randrange: the bound is ", bound, ", not positive");
        return static_cast<Integer>(below(static_cast<uint64_t>(bound)));
    }

    /// Shuffles in place, from the back (`Random.shuffle`): swaps each value with an
    /// earlier value or with itself. Values may be of any type, as in Python.
    template <typename T>
    void shuffle(std::span<T> values) {
        shuffle_indices(values.size(),
                        [&](uint64_t i, uint64_t j) { std::swap(values[i], values[j]); });
    }
    template <typename T>
    void shuffle(std::vector<T>& values) {
        shuffle(std::span<T>(values));
    }

  private:
    using Exchange = std::function<void(uint64_t i, uint64_t j)>;

    // Returns a uniform integer in [0, bound), by rejection: draws as many bits as
    // `bound` itself has in binary (10 and 15 have 4, 16 has 5), and draws again until
    // the number is below `bound`. REQUIRES: bound > 0.
    uint64_t below(uint64_t bound);

    // Brings n values into a random order; each of the n! orders has the same
    // probability. Fills the places from the last place to the first: the value for a
    // place comes from any place that is not filled yet, this place included, and
    // exchange(i, j) swaps the values at the places i and j. Draws one number with
    // below() for each place except the first, which has no choice.
    void shuffle_indices(uint64_t n, const Exchange& exchange);

    MersenneTwister engine_;
};

}  // namespace mini
