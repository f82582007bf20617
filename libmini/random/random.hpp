// Random numbers, bitwise identical to those of PyTorch's CPU generator.
//
// PyTorch's engine is the Mersenne Twister, seeded with the low 32 bits of the seed: the
// same 32-bit words w as std::mt19937. The conversion of words to numbers differs from
// that of <random>; it is implemented here as in PyTorch:
//
//   draw                      words    number                              PyTorch
//   uniform float             1        (w mod 2^24) / 2^24                 all
//   uniform double            2        (r64 mod 2^53) / 2^53               all
//   random_                   1 or 2   w mod 2^31, r64 mod 2^63            all
//   randint                   1 or 2   low + w mod range                   2.7, 2^28 values
//   randperm                  n-1      Fisher-Yates from the front         2.6, 2^28 numbers
//   normal, fewer than 16     4 a pair Box-Muller, in double               2.0, last bit
//   normal, 16 and more       1 or 2   Box-Muller, in blocks               two roundings
//   bernoulli, exponential    2 each   uniform double < p, -log(1 - u)     2.7, no MKL
//
// where r64 is two words, the first word high. All are those of PyTorch 2.15. The last
// column says since which version PyTorch draws so, and where versions before it differ:
// in about 2^28 and more values, in the last bit of one double in 30, or in x86 wheels,
// which used Intel MKL. "two roundings": two methods, selected by set_rounding; the default
// is that of PyTorch's wheel on x86-64.
//
// Reference: ATen/core/DistributionsHelper.h, ATen/native/cpu/DistributionTemplates.h.

#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "libmini/random/mersenne_twister.hpp"

namespace mini {

/// Rounding of u * (to - from) + from, which maps u in [0, 1) to [from, to), and of
/// z * deviation + mean. PyTorch rounds once (kFused) with AVX2, which its wheels use on
/// every current x86-64 processor, and twice (kSeparate) without AVX2
/// (ATEN_CPU_CAPABILITY=default). tests/golden has reference values of both.
enum class Rounding { kSeparate, kFused };

/// PyTorch's CPU generator (`torch.Generator`).
class Generator {
  public:
    /// PyTorch's default seed.
    static constexpr uint64_t kDefaultSeed = 67280421310721ULL;

    explicit Generator(uint64_t seed = kDefaultSeed) { manual_seed(seed); }

    /// Restarts the generator from `seed` (`Generator.manual_seed`). Seeds that are equal
    /// modulo 2^32 give the same words, as in PyTorch.
    void manual_seed(uint64_t seed);

    /// Returns the last seed that was set (`Generator.initial_seed`).
    uint64_t initial_seed() const { return seed_; }

    /// Sets the rounding of fill_uniform and fill_normal; the default is kFused.
    void set_rounding(Rounding rounding) { rounding_ = rounding; }
    Rounding rounding() const { return rounding_; }

    /// Returns the complete state, including the spare normal number and the rounding, as
    /// 2544 bytes (`Generator.get_state`). The layout is libmini's own, not
    /// PyTorch's. To save the state, wrap it in a tensor of uint8.
    std::vector<uint8_t> get_state() const;

    /// Resumes from a state that get_state returned in this or another process
    /// (`Generator.set_state`). Throws Error, and leaves the generator unchanged, if
    /// `state` was not returned by get_state.
    void set_state(std::span<const uint8_t> state);

    /// Returns the next 32-bit word.
    uint32_t random() { return engine_.next(); }

    /// Returns the next two words as one 64-bit number, the first word high.
    uint64_t random64() {
        const uint64_t high = random();
        return high << 32 | random();
    }

    /// Returns a uniform number in [0, 1) with 24 random bits; uses one word
    /// (`torch.rand`, float32).
    float uniform_float() { return static_cast<float>(random() & 0xffffffu) * 0x1p-24f; }

    /// Returns a uniform number in [0, 1) with 53 random bits; uses two words
    /// (`torch.rand`, float64).
    double uniform_double() {
        return static_cast<double>(random64() & 0x1fffffffffffffu) * 0x1p-53;
    }

    /// Returns a uniform integer in [0, 2^31); uses one word
    /// (`torch.empty((), dtype=torch.int32).random_()`).
    int32_t random_int32() { return static_cast<int32_t>(random() & INT32_MAX); }

    /// Returns a uniform integer in [0, 2^63); uses two words
    /// (`torch.empty((), dtype=torch.int64).random_()`). DataLoader and RandomSampler
    /// draw their seeds with it.
    int64_t random_int64() { return static_cast<int64_t>(random64() & INT64_MAX); }

    /// Returns a number from the standard normal distribution, by the Box-Muller
    /// transform (`torch.normal` of one double). Four words give two numbers; the second
    /// number is kept for the next call.
    double normal_double();

    /// Returns a number in [0, inf) from the exponential distribution of rate `lambda`;
    /// uses two words (`Tensor.exponential_`, float64; PyTorch 2.7 and later on every
    /// machine, earlier versions without MKL). Throws Error unless lambda is positive.
    double exponential_double(double lambda = 1);

    /// Returns a uniform integer in [low, high) (`torch.randint`, int64). Uses one word,
    /// or two words for ranges of 2^28 and more. Throws Error unless low < high.
    int64_t randint(int64_t low, int64_t high);

  private:
    MersenneTwister engine_;
    std::optional<double> spare_normal_;
    uint64_t seed_ = 0;
    Rounding rounding_ = Rounding::kFused;
};

/// Returns the calling thread's default generator, which initialisers, dropout and
/// loaders use when no generator is passed. Each thread has its own default generator, so
/// that ranks in threads draw the same numbers as ranks in processes.
Generator& default_generator();

/// Seeds this thread's default generator (`torch.manual_seed`).
void manual_seed(uint64_t seed);

/// Fills `values` with u * (to - from) + from, where u is uniform in [0, 1), computed in
/// the element type with the rounding generator.rounding() (`Tensor.uniform_`;
/// `torch.rand` for from = 0, to = 1). Throws Error unless from <= to.
void fill_uniform(std::span<float> values, double from, double to, Generator& generator);
void fill_uniform(std::span<double> values, double from, double to, Generator& generator);

/// Fills `values`: each element is 1 if a uniform double is below `probability`,
/// otherwise 0 (`Tensor.bernoulli_`, which also draws dropout's masks; PyTorch 2.7 and
/// later on every machine, earlier versions without MKL). Uses two words per element.
/// Throws Error unless probability is in [0, 1].
void fill_bernoulli(std::span<float> values, double probability, Generator& generator);

/// Fills `values` from the normal distribution (`Tensor.normal_`; `torch.randn` for mean
/// 0 and deviation 1). Fewer than 16 values are drawn one by one with normal_double() and
/// scaled in double. For 16 and more, each element is first filled with a uniform number
/// in the element type; then blocks of 16 are transformed in place, element j together
/// with element j + 8. If the size is not a multiple of 16, the last 16 elements are
/// drawn again. Throws Error unless the deviation is 0 or more.
///
/// For floats and kFused, the blocks use the log, sin and cos of random/cephes.hpp, as
/// PyTorch does with AVX2; otherwise they use those of the C library.
void fill_normal(std::span<float> values, double mean, double deviation,
                 Generator& generator);
void fill_normal(std::span<double> values, double mean, double deviation,
                 Generator& generator);

/// Returns a random permutation of 0 .. n-1 (`torch.randperm`). Draws n - 1 words,
/// Fisher-Yates from the front; if n >= 214,748,364, draws like randperm_wide. Throws Error
/// if n < 0 or n > 2^32 - 1.
std::vector<int64_t> randperm(int64_t n, Generator& generator);

/// Returns the same permutation as randperm with 4 bytes per number. It is faster because
/// it accesses half the memory.
std::vector<uint32_t> randperm_u32(int64_t n, Generator& generator);

/// Returns the permutation that randperm draws for n >= 214,748,364; any n is accepted,
/// for tests. Draws 2n words, inside-out Fisher-Yates: each new number is swapped with an
/// earlier number or with itself. Throws Error if n < 0.
std::vector<int64_t> randperm_wide(int64_t n, Generator& generator);

}  // namespace mini
