#include "libmini/random/mersenne_twister.hpp"

#include <algorithm>

#include "libmini/core/error.hpp"

namespace mini {
namespace {

// One step of the feedback: joins the high bit of one word and the low bits of the next,
// shifts right by 1, and XORs with the polynomial if the shifted-out bit is 1.
uint32_t twist(uint32_t high, uint32_t low) {
    const uint32_t joined = (high & 0x80000000u) | (low & 0x7fffffffu);
    return joined >> 1 ^ ((joined & 1u) != 0 ? 0x9908b0dfu : 0u);
}

}  // namespace

MersenneTwister::MersenneTwister(uint32_t seed) {
    state_[0] = seed;
    for (uint32_t i = 1; i < kStateSize; ++i)
        state_[i] = 1812433253u * (state_[i - 1] ^ state_[i - 1] >> 30) + i;
}

MersenneTwister::MersenneTwister(std::span<const uint32_t> key)
    : MersenneTwister(19650218u) {
    MINI_CHECK(!key.empty(), "MersenneTwister: the key is empty");

    // Update the words cyclically, without s[0], which is a copy of the last word.
    size_t i = 1;
    const auto step = [&](uint32_t multiplier) {
        return state_[i] ^ (state_[i - 1] ^ state_[i - 1] >> 30) * multiplier;
    };
    const auto store = [&](uint32_t word) {
        state_[i] = word;
        if (++i < kStateSize) return;
        state_[0] = state_[kStateSize - 1];
        i = 1;
    };

    // Mix the key in, then mix once more, so that each word depends on the whole key.
    for (size_t k = 0; k < std::max(kStateSize, key.size()); ++k) {
        const size_t j = k % key.size();
        store(step(1664525u) + key[j] + static_cast<uint32_t>(j));
    }
    for (size_t k = 0; k < kStateSize - 1; ++k)
        store(step(1566083941u) - static_cast<uint32_t>(i));

    state_[0] = 0x80000000u;  // so that the state is never all zero
}

void MersenneTwister::set_state(const State& state) {
    MINI_CHECK(state.used <= kStateSize, "MersenneTwister: the state has ", state.used,
               " used words, more than ", kStateSize);
    state_ = state.words;
    used_ = state.used;
}

void MersenneTwister::refill() {
    // Two loops and the last word avoid index arithmetic modulo 624.
    for (size_t i = 0; i < kStateSize - kShift; ++i)
        state_[i] = state_[i + kShift] ^ twist(state_[i], state_[i + 1]);
    for (size_t i = kStateSize - kShift; i < kStateSize - 1; ++i)
        state_[i] = state_[i + kShift - kStateSize] ^ twist(state_[i], state_[i + 1]);
    state_[kStateSize - 1] =
        state_[kShift - 1] ^ twist(state_[kStateSize - 1], state_[0]);
    used_ = 0;
}

}  // namespace mini
