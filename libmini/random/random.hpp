// Random numbers equal to PyTorch's CPU generator, bit for bit.
//
// PyTorch's engine is the Mersenne Twister, seeded with the low 32 bits of the seed: the
// same words as std::mt19937. What differs from <random> is how words become numbers, and
// that is written here as PyTorch does it:
//
//   draw                      words    number                              PyTorch
//   uniform float             1        (w mod 2^24) / 2^24                 all
//   uniform double            2        (r64 mod 2^53) / 2^53               all
//   random_                   1 or 2   w mod 2^31, r64 mod 2^63            all
//   randint                   1 or 2   low + w mod range                   2.7 and before
//   randperm                  n-1      Fisher-Yates from the front         2.6 and before
//   normal, fewer than 16     4 a pair Box and Muller, in double           2.0 and before
//   normal, 16 and more       1 each   Box and Muller, in blocks           two roundings
//   bernoulli, exponential    2 each   uniform double < p, -log(1 - u)     2.7, no MKL
//
// where r64 is two words, the first one high. The last column says where PyTorch differs
// from itself: "2.7 and before" means two ways, chosen by set_version; "two roundings"
// two ways, chosen by set_rounding; "2.7, no MKL" means 2.7 and later on every machine,
// and earlier ones but for their x86 wheels, whose bernoulli and exponential come from
// Intel's MKL and are not ours. Unless set, both are those of PyTorch 2.15's wheel on
// x86-64.
//
// Reference: ATen/core/DistributionsHelper.h, ATen/native/cpu/DistributionTemplates.h.

#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "libmini/random/mersenne_twister.hpp"

namespace mini {

/// How u * (to - from) + from is rounded, which brings a u in [0, 1) into [from, to), and
/// z * deviation + mean likewise. PyTorch rounds once where it uses AVX2, as its wheels
/// do on every x86-64 of today, and twice where it is told not to
/// (ATEN_CPU_CAPABILITY=default). tests/golden holds both.
enum class Rounding { kSeparate, kFused };

/// A version of PyTorch, where versions draw differently: 2.0 changed how a single weighted
/// sample is drawn (random/multinomial.hpp) and the last bit of normal doubles, 2.6 how
/// 214,748,364 and more numbers are permuted, and 2.7 takes 64 bits for ranges from 2^28 on.
struct TorchVersion {
    int major = 2;
    int minor = 15;

    auto operator<=>(const TorchVersion&) const = default;
};

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

    /// How fill_uniform and fill_normal round; kFused unless set.
    void set_rounding(Rounding rounding) { rounding_ = rounding; }
    Rounding rounding() const { return rounding_; }

    /// Which version of PyTorch randint, randperm, multinomial and normal_double follow;
    /// 2.15 unless set.
    void set_version(TorchVersion version) { version_ = version; }
    TorchVersion version() const { return version_; }

    /// All that later draws depend on, the spare normal number, rounding and version
    /// included, as 2552 bytes in a layout of our own (`Generator.get_state`). Wrap them
    /// in a tensor of uint8 to save them.
    std::vector<uint8_t> get_state() const;

    /// Goes on from what get_state returned, here or in another process. Throws Error,
    /// changing nothing, for bytes that it did not return (`Generator.set_state`).
    void set_state(std::span<const uint8_t> state);

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

    /// Uniform in [0, 2^31): one word (`torch.empty((), dtype=torch.int32).random_()`).
    int32_t random_int32() { return static_cast<int32_t>(random() & INT32_MAX); }

    /// Uniform in [0, 2^63): two words. DataLoader and RandomSampler draw their seeds
    /// with it (`torch.empty((), dtype=torch.int64).random_()`).
    int64_t random_int64() { return static_cast<int64_t>(random64() & INT64_MAX); }

    /// From the standard normal distribution, by Box and Muller: four words give two
    /// numbers, and the second is kept for the next call (`torch.normal` of one double).
    double normal_double();

    /// From the exponential distribution of rate `lambda`, in [0, inf): two words
    /// (`Tensor.exponential_`, float64; PyTorch 2.7 and later on every machine, earlier
    /// ones without MKL). Throws Error unless lambda is positive.
    double exponential_double(double lambda = 1);

    /// Uniform in [low, high): one word, or two where the range is wide: 2^28 and more
    /// from PyTorch 2.7 on, 2^32 and more before (`torch.randint`, int64). Throws Error
    /// unless low < high.
    int64_t randint(int64_t low, int64_t high);

  private:
    MersenneTwister engine_;
    std::optional<double> spare_normal_;
    uint64_t seed_ = 0;
    Rounding rounding_ = Rounding::kFused;
    TorchVersion version_;
};

/// The generator that initialisers, dropout and loaders use when they are given none.
/// Each thread has its own, so that ranks that are threads draw what ranks that are
/// processes would draw.
Generator& default_generator();

/// Seeds this thread's default generator (`torch.manual_seed`).
void manual_seed(uint64_t seed);

/// Fills `values` with u * (to - from) + from in their own precision, rounded as
/// generator.rounding() says (`Tensor.uniform_`, and `torch.rand` from 0 to 1).
void fill_uniform(std::span<float> values, double from, double to, Generator& generator);
void fill_uniform(std::span<double> values, double from, double to, Generator& generator);

/// Fills `values` with 1 where a uniform double is below `probability`, else 0: two words
/// each (`Tensor.bernoulli_`, and with it dropout's masks; PyTorch 2.7 and later on every
/// machine, earlier ones without MKL). Throws Error unless probability is in [0, 1].
void fill_bernoulli(std::span<float> values, double probability, Generator& generator);

/// Fills `values` with exponential_double(lambda) each (`Tensor.exponential_`; the same
/// versions as fill_bernoulli). Throws Error unless lambda is positive.
void fill_exponential(std::span<float> values, double lambda, Generator& generator);
void fill_exponential(std::span<double> values, double lambda, Generator& generator);

/// Fills `values` from the normal distribution (`Tensor.normal_`, and `torch.randn`
/// from 0 and 1). Fewer than 16 are normal_double() each, scaled in double. From 16 on,
/// each value first takes a uniform number of its own precision, then blocks of 16 are
/// turned in place, number j with number j + 8; for a rest, the last 16 values are drawn
/// again.
///
/// kFused takes the logarithms, sines and cosines of such floats from random/cephes.hpp, as
/// PyTorch does with AVX2; all others are the C library's.
void fill_normal(std::span<float> values, double mean, double deviation,
                 Generator& generator);
void fill_normal(std::span<double> values, double mean, double deviation,
                 Generator& generator);

/// A random permutation of 0 .. n-1 (`torch.randperm`, all of 1.x and 2.x): n - 1
/// words, Fisher-Yates from the front. From 214,748,364 numbers on PyTorch 2.6 and
/// later draw as randperm_wide does, unless generator.version() is older. Throws Error
/// for n < 0 or more than 2^32 - 1 numbers.
std::vector<int64_t> randperm(int64_t n, Generator& generator);

/// The same permutation at 4 bytes a number, and so faster: a half of the memory to
/// wander through.
std::vector<uint32_t> randperm_u32(int64_t n, Generator& generator);

/// What randperm draws from 214,748,364 numbers on, for any n so that it can be tried: 2n
/// words, Fisher-Yates inside out, the new number swapped with one of those before it.
std::vector<int64_t> randperm_wide(int64_t n, Generator& generator);

}  // namespace mini
