#include "libmini/random/random.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <numbers>
#include <numeric>
#include <type_traits>
#include <utility>

#include "libmini/core/error.hpp"
#include "libmini/random/cephes.hpp"

namespace mini {
namespace {

constexpr size_t kNormalBlock = 16;

// The smallest range for which randint draws two words.
constexpr uint64_t kWideRange = uint64_t{1} << 28;

// The smallest n for which randperm uses the inside-out Fisher-Yates shuffle.
constexpr int64_t kInsideOut = 214'748'364;  // (2^32 - 1) / 20

// The number of swaps that randperm draws ahead. A permutation of 10 million 32-bit
// numbers takes 112 ms without blocks, 54 ms in blocks of 128, and 49 ms in blocks of 256
// or 512 (AMD EPYC, one core).
constexpr uint32_t kSwapsAhead = 256;

// Returns x * scale + shift, rounded once or twice.
template <typename T>
T affine(T x, T scale, T shift, Rounding rounding) {
    return rounding == Rounding::kFused ? std::fma(x, scale, shift) : x * scale + shift;
}

template <typename T>
T uniform(Generator& generator) {
    if constexpr (std::is_same_v<T, float>) return generator.uniform_float();
    return generator.uniform_double();
}

template <typename T>
void uniform_each(std::span<T> values, double from, double to, Generator& generator) {
    MINI_CHECK(from <= to, "fill_uniform: from is ", from, " but to is ", to,
               "; from must not be above to");
    const auto low = static_cast<T>(from);
    const T range = static_cast<T>(to) - low;
    for (T& value : values)
        value = affine(uniform<T>(generator), range, low, generator.rounding());
}

constexpr double kTurn = 2 * std::numbers::pi;

// Converts two uniform numbers to two normal numbers by the Box-Muller transform: the
// first gives a radius, the second an angle. Uses 1 - u instead of u, because u may be 0.
template <typename T>
void normal_pair(T& first, T& second) {
    const T radius = std::sqrt(T{-2} * std::log(T{1} - first));
    const T angle = static_cast<T>(kTurn * second);
    first = radius * std::cos(angle);
    second = radius * std::sin(angle);
}

// The same as normal_pair, with the log, sin and cos of PyTorch's AVX2 code.
void normal_pair_avx2(float& first, float& second) {
    const float radius = std::sqrt(-2.0f * cephes_log(1.0f - first));
    const auto [sin, cos] = cephes_sincos(static_cast<float>(kTurn) * second);
    first = radius * cos;
    second = radius * sin;
}

// Converts 16 uniform numbers to normal numbers, element j together with element j + 8.
template <typename T>
void normal_block(T* block, T mean, T deviation, Rounding rounding) {
    for (size_t j = 0; j < kNormalBlock / 2; ++j) {
        T& first = block[j];
        T& second = block[j + kNormalBlock / 2];
        if constexpr (std::is_same_v<T, float>)
            rounding == Rounding::kFused ? normal_pair_avx2(first, second)
                                         : normal_pair(first, second);
        else
            normal_pair(first, second);
        first = affine(first, deviation, mean, rounding);
        second = affine(second, deviation, mean, rounding);
    }
}

template <typename T>
void normal_each(std::span<T> values, double mean, double deviation,
                 Generator& generator) {
    MINI_CHECK(deviation >= 0, "fill_normal: the standard deviation is ", deviation,
               ", not 0 or more");
    const Rounding rounding = generator.rounding();
    if (values.size() < kNormalBlock) {
        for (T& value : values)
            value = static_cast<T>(
                affine(generator.normal_double(), deviation, mean, rounding));
        return;
    }

    const auto convert_block = [&](T* block) {
        normal_block(block, static_cast<T>(mean), static_cast<T>(deviation), rounding);
    };
    for (T& value : values) value = uniform<T>(generator);
    for (size_t i = 0; i + kNormalBlock <= values.size(); i += kNormalBlock)
        convert_block(&values[i]);

    // Draw the last 16 elements again if the size is not a multiple of 16.
    if (values.size() % kNormalBlock == 0) return;
    const auto last = values.last(kNormalBlock);
    for (T& value : last) value = uniform<T>(generator);
    convert_block(last.data());
}

// Swaps each element with itself or a later element. A swap waits for memory, a draw does
// not. So this function draws a block of swap targets, prefetches their memory, and then
// swaps.
template <typename T>
void shuffle_from_front(std::span<T> order, Generator& generator) {
    std::array<uint32_t, kSwapsAhead> targets;
    const auto n = static_cast<uint32_t>(order.size());
    for (uint32_t done = 0; done + 1 < n;) {
        const uint32_t count = std::min(kSwapsAhead, n - 1 - done);
        for (uint32_t k = 0; k < count; ++k) {
            const uint32_t i = done + k;
            targets[k] = i + generator.random() % (n - i);
            __builtin_prefetch(&order[targets[k]], 1);
        }
        for (uint32_t k = 0; k < count; ++k)
            std::swap(order[done + k], order[targets[k]]);
        done += count;
    }
}

// Inserts each number i at index i or at an earlier index; the number that was at the
// earlier index moves to index i.
template <typename T>
void shuffle_inside_out(std::span<T> order, Generator& generator) {
    for (uint64_t i = 0; i < order.size(); ++i) {
        const uint64_t target = generator.random64() % (i + 1);
        order[i] = order[target];
        order[target] = static_cast<T>(i);
    }
}

template <typename T>
std::vector<T> permutation(int64_t n, Generator& generator) {
    MINI_CHECK(n >= 0 && n <= UINT32_MAX, "randperm: n is ", n, ", not in [0, 2^32)");
    std::vector<T> order(static_cast<size_t>(n));
    if (n >= kInsideOut) {
        shuffle_inside_out(std::span(order), generator);
    } else {
        std::iota(order.begin(), order.end(), T{0});
        shuffle_from_front(std::span(order), generator);
    }
    return order;
}

// The memory layout of a saved state, without padding; numbers are little-endian.
struct StateLayout {
    std::array<char, 8> magic;
    uint64_t seed;
    double spare_normal;  // 0 if has_spare is 0
    uint32_t has_spare;
    uint32_t rounding;
    uint64_t used;
    std::array<uint32_t, MersenneTwister::kStateSize> words;
    uint64_t checksum;  // of all bytes before it
};
static_assert(sizeof(StateLayout) == 2544 && std::endian::native == std::endian::little);

// The last digit is the number of the layout.
constexpr std::array<char, 8> kStateMagic = {'m', 'i', 'n', 'i', 'R', 'N', 'G', '2'};

// Returns the FNV-1a hash of all bytes before the checksum.
uint64_t checksum(const StateLayout& state) {
    const auto* const bytes = reinterpret_cast<const uint8_t*>(&state);
    uint64_t hash = 0xcbf29ce484222325u;
    for (size_t i = 0; i < offsetof(StateLayout, checksum); ++i)
        hash = (hash ^ bytes[i]) * 0x100000001b3u;
    return hash;
}

}  // namespace

void Generator::manual_seed(uint64_t seed) {
    engine_ = MersenneTwister(static_cast<uint32_t>(seed));
    spare_normal_.reset();
    seed_ = seed;
}

std::vector<uint8_t> Generator::get_state() const {
    const MersenneTwister::State engine = engine_.state();
    StateLayout state = {.magic = kStateMagic,
                         .seed = seed_,
                         .spare_normal = spare_normal_.value_or(0.0),
                         .has_spare = spare_normal_.has_value(),
                         .rounding = static_cast<uint32_t>(rounding_),
                         .used = engine.used,
                         .words = engine.words,
                         .checksum = 0};
    state.checksum = checksum(state);
    std::vector<uint8_t> bytes(sizeof state);
    std::memcpy(bytes.data(), &state, sizeof state);
    return bytes;
}

void Generator::set_state(std::span<const uint8_t> bytes) {
    StateLayout state;
    MINI_CHECK(bytes.size() == sizeof state, "Generator: a state has ", sizeof state,
               " bytes, but this one has ", bytes.size(),
               "; PyTorch's own states cannot be read");
    std::memcpy(&state, bytes.data(), sizeof state);
    MINI_CHECK(state.magic == kStateMagic, "Generator: this state is not of layout 2");
    MINI_CHECK(state.checksum == checksum(state), "Generator: this state is damaged");

    engine_.set_state({.words = state.words, .used = static_cast<size_t>(state.used)});
    seed_ = state.seed;
    spare_normal_.reset();
    if (state.has_spare != 0) spare_normal_ = state.spare_normal;
    rounding_ = static_cast<Rounding>(state.rounding);
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

double Generator::exponential_double(double lambda) {
    MINI_CHECK(lambda > 0, "exponential: lambda is ", lambda, ", not positive");
    return -1.0 / lambda * std::log1p(-uniform_double());
}

int64_t Generator::randint(int64_t low, int64_t high) {
    MINI_CHECK(low < high, "randint: from ", low, " to ", high,
               " there is nothing to draw; low must be below high");
    const uint64_t range = static_cast<uint64_t>(high) - static_cast<uint64_t>(low);
    const uint64_t word = range >= kWideRange ? random64() : random();
    return static_cast<int64_t>(static_cast<uint64_t>(low) + word % range);
}

Generator& default_generator() {
    thread_local Generator generator;
    return generator;
}

void manual_seed(uint64_t seed) { default_generator().manual_seed(seed); }

void fill_uniform(std::span<float> values, double from, double to, Generator& generator) {
    uniform_each(values, from, to, generator);
}

void fill_uniform(std::span<double> values, double from, double to,
                  Generator& generator) {
    uniform_each(values, from, to, generator);
}

void fill_bernoulli(std::span<float> values, double probability, Generator& generator) {
    MINI_CHECK(probability >= 0 && probability <= 1,
               "fill_bernoulli: the probability is ", probability, ", not in [0, 1]");
    // A draw's 53 bits are compared as an integer, in blocks: the compiler then uses
    // vectors. uniform_double() < probability says the same.
    const auto limit = static_cast<uint64_t>(std::ceil(probability * 0x1p53));
    std::array<uint64_t, 64> bits;
    while (!values.empty()) {
        const auto block = values.first(std::min(bits.size(), values.size()));
        for (size_t i = 0; i < block.size(); ++i)
            bits[i] = generator.random64() & 0x1fffffffffffffu;
        for (size_t i = 0; i < block.size(); ++i)
            block[i] = bits[i] < limit ? 1.0f : 0.0f;
        values = values.subspan(block.size());
    }
}

void fill_normal(std::span<float> values, double mean, double deviation,
                 Generator& generator) {
    normal_each(values, mean, deviation, generator);
}

void fill_normal(std::span<double> values, double mean, double deviation,
                 Generator& generator) {
    normal_each(values, mean, deviation, generator);
}

std::vector<int64_t> randperm(int64_t n, Generator& generator) {
    return permutation<int64_t>(n, generator);
}

std::vector<uint32_t> randperm_u32(int64_t n, Generator& generator) {
    return permutation<uint32_t>(n, generator);
}

std::vector<int64_t> randperm_wide(int64_t n, Generator& generator) {
    MINI_CHECK(n >= 0, "randperm_wide: n is ", n, ", not 0 or more");
    std::vector<int64_t> order(static_cast<size_t>(n));
    shuffle_inside_out(std::span(order), generator);
    return order;
}

}  // namespace mini
