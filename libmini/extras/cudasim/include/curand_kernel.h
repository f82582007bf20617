// cuRAND's device functions: Philox4x32-10 (Salmon et al. 2011), with cuRAND's numbers. XORWOW is
// another name of it here, so its numbers differ from cuRAND's.

#pragma once

#include "libmini/extras/cudasim/program.hpp"

/// A sequence of 2^130 numbers, four for each value of the counter. The upper half of the counter
/// is the number of the subsequence.
struct curandStatePhilox4_32_10 {
    unsigned key[2], counter[4];
    unsigned numbers[4];  // of the counter
    unsigned used;        // of `numbers`
    bool has_normal;  // whether the next normal number is this one:
    float normal;
};
using curandStatePhilox4_32_10_t = curandStatePhilox4_32_10;
using curandState = curandStatePhilox4_32_10;
using curandState_t = curandState;
using curandStateXORWOW_t = curandState;

// Encrypts the counter in ten rounds.
MINI_WORD void mini_philox(curandState& state) {
    unsigned key[2] = {state.key[0], state.key[1]};
    memcpy(state.numbers, state.counter, sizeof state.counter);
    for (int round = 0; round < 10; ++round) {
        auto& x = state.numbers;
        const uint64_t a = uint64_t{x[0]} * 0xd2511f53, b = uint64_t{x[2]} * 0xcd9e8d57;
        x[0] = static_cast<unsigned>(b >> 32) ^ x[1] ^ key[0];
        x[1] = static_cast<unsigned>(b);
        x[2] = static_cast<unsigned>(a >> 32) ^ x[3] ^ key[1];
        x[3] = static_cast<unsigned>(a);
        key[0] += 0x9e3779b9;
        key[1] += 0xbb67ae85;
    }
}

/// Skips n numbers of subsequence 0.
MINI_WORD void skipahead(unsigned long long n, curandState* state) {
    uint64_t counts = n / 4 + (state->used + n % 4) / 4;
    state->used = (state->used + n) % 4;
    if (counts == 0) return;
    for (unsigned& word : state->counter) {
        counts += word;
        word = static_cast<unsigned>(counts);
        counts >>= 32;
    }
    mini_philox(*state);
}
MINI_WORD void curand_init(unsigned long long seed, unsigned long long subsequence,
                           unsigned long long offset, curandState* state) {
    const auto low = [](uint64_t x) { return static_cast<unsigned>(x); };
    *state = {{low(seed), low(seed >> 32)}, {0, 0, low(subsequence), low(subsequence >> 32)}};
    mini_philox(*state);
    skipahead(offset, state);
}
MINI_WORD unsigned curand(curandState* state) {
    const unsigned number = state->numbers[state->used];
    skipahead(1, state);
    return number;
}

// In (0, 1].
MINI_WORD float curand_uniform(curandState* state) { return curand(state) * 0x1p-32f + 0x1p-33f; }
MINI_WORD double curand_uniform_double(curandState* state) {
    return curand(state) * 0x1p-32 + 0x1p-32;
}

/// Two numbers of mean 0 and variance 1 (Box and Muller 1958).
MINI_WORD float2 curand_normal2(curandState* state) {
    constexpr float kTo2Pi = 0x1p-32f * 6.2831855f;
    const float length = sqrtf(-2 * logf(curand_uniform(state)));
    const float angle = curand(state) * kTo2Pi + kTo2Pi / 2;
    return {length * sinf(angle), length * cosf(angle)};
}
MINI_WORD float curand_normal(curandState* state) {
    state->has_normal = !state->has_normal;
    if (!state->has_normal) return state->normal;
    const float2 two = curand_normal2(state);
    state->normal = two.y;
    return two.x;
}
