// Python's random.Random, draw for draw (CPython 3.2 and later).
//
// The words are the Mersenne Twister's; a range is reached by asking for as many bits as
// it has and starting over when they are too large:
//
//     randrange(10)      10 has 4 bits:    1101 too large    0110 is 6
//
// At least half of the tries succeed, and all numbers are exactly as likely, which the
// remainders of torch.randint are not.
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

/// Python's `random.Random`, as far as dividing data needs it.
class PythonRandom {
  public:
    /// Seeds by init_by_array with the 32-bit words of |seed|, as CPython does for an
    /// int.
    explicit PythonRandom(int64_t seed);

    /// `bits` random bits, 1 to 64: the high bits of one word, or from 33 bits on a whole
    /// word and above it the high bits of a second (`Random.getrandbits`). Throws Error
    /// for any other number.
    uint64_t getrandbits(int bits);

    /// Uniform in [0, 1) with 53 random bits: two words (`Random.random`).
    double random();

    /// Uniform in [0, bound), by rejection (`Random.randrange`). Throws Error unless
    /// bound is positive.
    template <std::integral Integer>
    Integer randrange(Integer bound) {
        MINI_CHECK(bound > 0, "randrange: the bound is ", bound, ", not positive");
        return static_cast<Integer>(below(static_cast<uint64_t>(bound)));
    }

    /// Shuffles in place, from the back: each value changes places with one of those
    /// before it, or stays (`Random.shuffle`). Values of any type, as in Python.
    template <typename T>
    void shuffle(std::span<T> values) {
        shuffle_places(values.size(),
                       [&](uint64_t i, uint64_t j) { std::swap(values[i], values[j]); });
    }
    template <typename T>
    void shuffle(std::vector<T>& values) {
        shuffle(std::span<T>(values));
    }

  private:
    using Exchange = std::function<void(uint64_t i, uint64_t j)>;

    // Uniform in [0, bound), by rejection. REQUIRES: bound > 0.
    uint64_t below(uint64_t bound);

    // Calls exchange(i, j) for i = n-1, n-2, ..., 1, where j is drawn below i + 1.
    void shuffle_places(uint64_t n, const Exchange& exchange);

    MersenneTwister engine_;
};

}  // namespace mini
