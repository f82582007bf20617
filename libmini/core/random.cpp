#include "libmini/core/random.hpp"

#include <array>
#include <bit>
#include <cmath>
#include <numbers>
#include <numeric>
#include <utility>

#include "libmini/core/error.hpp"

namespace mini {
namespace {

constexpr int64_t kRandpermLimit = 214'748'364;  // (2^32 - 1) / 20
constexpr size_t kNormalBlock = 16;

// x * scale + shift, as one or the other build of PyTorch rounds it.
float affine(float x, float scale, float shift, Rounding rounding) {
    return rounding == Rounding::kFused ? std::fma(x, scale, shift) : x * scale + shift;
}

// Turns 16 uniform floats into 16 normal ones by Box and Muller: a radius from number j,
// an angle from number j + 8. 1 - u rather than u, which may be 0 and have no logarithm.
void normal_block(float* block, float mean, float deviation, Rounding rounding) {
    constexpr double kTurn = 2 * std::numbers::pi;
    for (size_t j = 0; j < kNormalBlock / 2; ++j) {
        float& first = block[j];
        float& second = block[j + kNormalBlock / 2];
        const float radius = std::sqrt(-2.0f * std::log(1.0f - first));
        // The fused build multiplies floats here, the other one doubles.
        const float angle = rounding == Rounding::kFused
                                ? static_cast<float>(kTurn) * second
                                : static_cast<float>(kTurn * second);
        first = affine(radius * std::cos(angle), deviation, mean, rounding);
        second = affine(radius * std::sin(angle), deviation, mean, rounding);
    }
}

MersenneTwister python_engine(int64_t seed) {
    const auto bits = static_cast<uint64_t>(seed);
    const uint64_t magnitude = seed < 0 ? 0 - bits : bits;
    const std::array<uint32_t, 2> words = {static_cast<uint32_t>(magnitude),
                                           static_cast<uint32_t>(magnitude >> 32)};
    return MersenneTwister(std::span(words).first(words[1] != 0 ? 2 : 1));
}

}  // namespace

void Generator::manual_seed(uint64_t seed) {
    engine_ = MersenneTwister(static_cast<uint32_t>(seed));
    spare_normal_.reset();
    seed_ = seed;
}

double Generator::normal_double() {
    if (spare_normal_) return *std::exchange(spare_normal_, std::nullopt);

    const double u1 = uniform_double();
    const double u2 = uniform_double();
    const double radius = std::sqrt(-2.0 * std::log1p(-u2));
    const double angle = 2.0 * std::numbers::pi * u1;
    spare_normal_ = radius * std::sin(angle);
    return radius * std::cos(angle);
}

Generator& default_generator() {
    thread_local Generator generator;
    return generator;
}

void manual_seed(uint64_t seed) { default_generator().manual_seed(seed); }

void fill_uniform(std::span<float> values, double from, double to, Generator& generator) {
    const auto low = static_cast<float>(from);
    const float range = static_cast<float>(to) - low;
    for (float& value : values)
        value = affine(generator.uniform_float(), range, low, generator.rounding());
}

void fill_bernoulli(std::span<float> values, double probability, Generator& generator) {
    MINI_CHECK(probability >= 0 && probability <= 1,
               "fill_bernoulli: the probability is ", probability, ", not in [0, 1]");
    for (float& value : values)
        value = generator.uniform_double() < probability ? 1.0f : 0.0f;
}

void fill_normal(std::span<float> values, double mean, double deviation,
                 Generator& generator) {
    if (values.size() < kNormalBlock) {
        for (float& value : values)
            value = static_cast<float>(generator.normal_double() * deviation + mean);
        return;
    }

    const auto turn = [&](float* block) {
        normal_block(block, static_cast<float>(mean), static_cast<float>(deviation),
                     generator.rounding());
    };
    for (float& value : values) value = generator.uniform_float();
    for (size_t i = 0; i + kNormalBlock <= values.size(); i += kNormalBlock)
        turn(&values[i]);

    // Draw the last 16 anew when the blocks do not fill the span.
    if (values.size() % kNormalBlock == 0) return;
    const auto last = values.last(kNormalBlock);
    for (float& value : last) value = generator.uniform_float();
    turn(last.data());
}

std::vector<int64_t> randperm(int64_t n, Generator& generator) {
    MINI_CHECK(n >= 0 && n < kRandpermLimit, "randperm: n is ", n, ", not in [0, ",
               kRandpermLimit, ")");
    std::vector<int64_t> order(static_cast<size_t>(n));
    std::iota(order.begin(), order.end(), 0);

    // Bring to each position one of those that are left, itself included.
    for (uint32_t i = 0, left = static_cast<uint32_t>(n); left > 1; ++i, --left)
        std::swap(order[i], order[i + generator.random() % left]);
    return order;
}

PythonRandom::PythonRandom(int64_t seed) : engine_(python_engine(seed)) {}

uint32_t PythonRandom::getrandbits(int bits) {
    MINI_CHECK(bits >= 1 && bits <= 32, "getrandbits: ", bits, " bits, not 1 to 32");
    return engine_.next() >> (32 - bits);
}

void PythonRandom::shuffle(std::span<int64_t> values) {
    MINI_CHECK(values.size() <= UINT32_MAX, "PythonRandom::shuffle: ", values.size(),
               " values, but one draw has 32 bits");

    // Draw as many bits as the bound has until they fall below it; at least half do.
    for (size_t bound = values.size(); bound > 1; --bound) {
        const int bits = static_cast<int>(std::bit_width(bound));
        uint32_t pick = getrandbits(bits);
        while (pick >= bound) pick = getrandbits(bits);
        std::swap(values[bound - 1], values[pick]);
    }
}

}  // namespace mini
