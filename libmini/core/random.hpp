// Random numbers equal to PyTorch's CPU generator, bit for bit, and to Python's random.
//
// PyTorch's engine is the Mersenne Twister, seeded with the low 32 bits of the seed: the
// same words as std::mt19937. What differs from <random> is how words become numbers, and
// that is written here as PyTorch does it:
//
//     uniform float    1 word      (w mod 2^24) * 2^-24, then * (to - from) + from
//     uniform double   2 words     (r64 mod 2^53) * 2^-53, r64 = first << 32 | second
//     bernoulli(p)     2 words     uniform double < p
//     normal           4 a pair    Box and Muller, in double; see also fill_normal
//     randperm(n)      n-1 words   Fisher-Yates from the front
//
// Reference: ATen/core/DistributionsHelper.h, ATen/native/cpu/DistributionTemplates.h.

#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "libmini/core/mersenne_twister.hpp"

namespace mini {

/// How u * (to - from) + from is rounded, which brings a u in [0, 1) into [from, to).
/// PyTorch's builds differ: published 2.x wheels round twice, builds that fuse the two
/// operations round once. tests/golden holds both.
enum class Rounding { kSeparate, kFused };

/// PyTorch's CPU generator (`torch.Generator`).
class Generator {
  public:
    /// PyTorch's own default seed.
    static constexpr uint64_t kDefaultSeed = 67280421310721ULL;

    explicit Generator(uint64_t seed = kDefaultSeed) { manual_seed(seed); }

    /// Starts the sequence of `seed` again; seeds equal modulo 2^32 give the same words,
    /// as in PyTorch (`Generator.manual_seed`).
    void manual_seed(uint64_t seed);

    /// The seed last given (`Generator.initial_seed`).
    uint64_t initial_seed() const { return seed_; }

    /// Which build of PyTorch fill_uniform and fill_normal follow; kSeparate unless set.
    void set_rounding(Rounding rounding) { rounding_ = rounding; }
    Rounding rounding() const { return rounding_; }

    /// The next 32-bit word.
    uint32_t random() { return engine_.next(); }

    /// Two words as one 64-bit number, the first one high.
    uint64_t random64() {
        const uint64_t high = random();
        return high << 32 | random();
    }

    /// Uniform in [0, 1) with 24 random bits: one word (`torch.rand`, float32).
    float uniform_float() { return static_cast<float>(random() & 0xffffffu) * 0x1p-24f; }

    /// Uniform in [0, 1) with 53 random bits: two words (`torch.rand`, float64).
    double uniform_double() {
        return static_cast<double>(random64() & 0x1fffffffffffffu) * 0x1p-53;
    }

    /// Uniform in [0, 2^63): two words. DataLoader and RandomSampler draw their seeds
    /// with it (`torch.empty((), dtype=torch.int64).random_()`).
    int64_t random_int64() { return static_cast<int64_t>(random64() & INT64_MAX); }

    /// From the standard normal distribution, by Box and Muller: four words give two
    /// numbers, and the second is kept for the next call (`torch.normal` of one double).
    double normal_double();

  private:
    MersenneTwister engine_;
    std::optional<double> spare_normal_;
    uint64_t seed_ = 0;
    Rounding rounding_ = Rounding::kSeparate;
};

/// The generator that initialisers, dropout and loaders use when they are given none.
/// Each thread has its own, so that ranks that are threads draw what ranks that are
/// processes would draw.
Generator& default_generator();

/// Seeds this thread's default generator (`torch.manual_seed`).
void manual_seed(uint64_t seed);

/// Fills `values` with u * (to - from) + from in float32, rounded as generator.rounding()
/// says (`Tensor.uniform_`).
void fill_uniform(std::span<float> values, double from, double to, Generator& generator);

/// Fills `values` with 1 where a uniform double is below `probability`, else 0: two words
/// each (`Tensor.bernoulli_`; PyTorch 2.7 and later on every machine, earlier ones
/// without MKL). Throws Error unless probability is in [0, 1].
void fill_bernoulli(std::span<float> values, double probability, Generator& generator);

/// Fills `values` from the normal distribution (`Tensor.normal_`, `torch.randn`). Fewer
/// than 16 are normal_double() each. From 16 on, each value first takes a uniform float,
/// then blocks of 16 are turned in place, number j with number j + 8; a rest is the last
/// 16 values drawn anew. Equal to PyTorch up to the last bits of log, sin and cos, which
/// are the machine's here: within 2 units in the last place of separately rounding
/// builds, 3 of fused ones.
void fill_normal(std::span<float> values, double mean, double deviation,
                 Generator& generator);

/// A random permutation of 0 .. n-1 (`torch.randperm`; PyTorch 1.x to 2.x). Throws Error
/// unless 0 <= n < 214,748,364, from where on PyTorch 2.6 draws in another way.
std::vector<int64_t> randperm(int64_t n, Generator& generator);

/// Python's `random.Random`, as far as shuffling needs it (CPython 3.2 and later).
class PythonRandom {
  public:
    /// Seeds by init_by_array with the 32-bit words of |seed|, as CPython does for an
    /// int.
    explicit PythonRandom(int64_t seed);

    /// `bits` random bits, 1 to 32 (`Random.getrandbits`). Throws Error for any other
    /// number.
    uint32_t getrandbits(int bits);

    /// Shuffles in place, from the back, by rejection on bit lengths (`Random.shuffle`).
    void shuffle(std::span<int64_t> values);

  private:
    MersenneTwister engine_;
};

}  // namespace mini
