#include "libmini/random/python_random.hpp"

#include <array>
#include <bit>

namespace mini {
namespace {

MersenneTwister python_engine(int64_t seed) {
    const auto bits = static_cast<uint64_t>(seed);
    const uint64_t magnitude = seed < 0 ? 0 - bits : bits;
    const std::array<uint32_t, 2> words = {static_cast<uint32_t>(magnitude),
                                           static_cast<uint32_t>(magnitude >> 32)};
    return MersenneTwister(std::span(words).first(words[1] != 0 ? 2 : 1));
}

}  // namespace

PythonRandom::PythonRandom(int64_t seed) : engine_(python_engine(seed)) {}

uint64_t PythonRandom::getrandbits(int bits) {
    MINI_CHECK(bits >= 1 && bits <= 64, "getrandbits: ", bits, " bits, not 1 to 64");
    if (bits > 32) {
        const uint64_t low = engine_.next();
        const uint64_t high = engine_.next() >> (64 - bits);
        return high << 32 | low;
    }
    return engine_.next() >> (32 - bits);
}

double PythonRandom::random() {
    const uint64_t high = engine_.next() >> 5;  // 27 bits
    const uint64_t low = engine_.next() >> 6;   // 26 bits
    return static_cast<double>(high << 26 | low) * 0x1p-53;
}

uint64_t PythonRandom::below(uint64_t bound) {
    const int bits = static_cast<int>(std::bit_width(bound));
    uint64_t pick = getrandbits(bits);
    while (pick >= bound) pick = getrandbits(bits);
    return pick;
}

void PythonRandom::shuffle_indices(uint64_t n, const Exchange& exchange) {
    for (uint64_t left = n; left > 1; --left) exchange(left - 1, below(left));
}

}  // namespace mini
