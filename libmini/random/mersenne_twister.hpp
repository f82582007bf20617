// The Mersenne Twister MT19937 (Matsumoto and Nishimura, 1998): a sequence of 32-bit
// words with the period 2^19937 - 1.
//
//     state    s[0] s[1] .. s[623]       regenerated as a whole, every 624 words:
//
//              s[i] = s[i + 397]  ^  twist(high bit of s[i], low 31 bits of s[i + 1])
//
//     output   temper(s[0]), temper(s[1]), ...
//
// Indices are modulo 624. Twisting is a shift register with feedback; tempering mixes the
// bits of a word, so that the high bits look as random as the low bits. If the seed is
// one word, the sequence equals that of std::mt19937. Python seeds from several words, by
// a method that std::mt19937 does not have.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace mini {

/// The generator MT19937: a seed gives the same 32-bit words on every machine.
class MersenneTwister {
  public:
    /// Seeds from one word, as std::mt19937 and PyTorch do (`init_genrand`).
    explicit MersenneTwister(uint32_t seed = 5489);

    /// Seeds from one or more words, as Python does (`init_by_array`). Throws Error if
    /// `key` is empty.
    explicit MersenneTwister(std::span<const uint32_t> key);

    static constexpr size_t kStateSize = 624;

    /// The complete state: it determines all later words.
    struct State {
        std::array<uint32_t, kStateSize> words;
        size_t used;  // words already returned by next(), 0 to kStateSize
    };
    State state() const { return {state_, used_}; }

    /// Resumes from a state. Throws Error when `used` is out of range.
    void set_state(const State& state);

    /// Returns the next 32 random bits.
    uint32_t next() {
        if (used_ == kStateSize) refill();
        return temper(state_[used_++]);
    }

  private:
    static constexpr size_t kShift = 397;

    static uint32_t temper(uint32_t word) {
        word ^= word >> 11;
        word ^= word << 7 & 0x9d2c5680u;
        word ^= word << 15 & 0xefc60000u;
        return word ^ word >> 18;
    }

    void refill();

    std::array<uint32_t, kStateSize> state_;
    size_t used_ = kStateSize;  // words of state_ already returned
};

}  // namespace mini
