// The masks of dropout, by a counter-based random generator.
//
// Philox 4x32-10 maps a 128-bit counter and a 64-bit key to four words, in ten rounds of
// two multiplications. There is no state to pass from one number to the next: each thread
// puts its index into the counter, so that no two threads draw the same word.
//
//     element    0  1  2  3 | 4  5  6  7 | ...
//     counter    (offset / 4, 0)  (offset / 4, 1)    high half: the subsequence
//     key        seed
//
// The words equal those of curand_init(seed, subsequence, offset). They also equal those
// of PyTorch's dropout on a tensor that is small enough for one pass of its kernel's
// grid. u = (word + 1/2) / 2^32 is in (0, 1]. A thread computes the four words of its
// element's counter and uses one: a GPU computes them faster than it writes the masks.
//
// Salmon, Moraes, Dror, Shaw 2011, "Parallel random numbers: as easy as 1, 2, 3".

#include "libmini/kernels/cuda/each.hpp"
#include "libmini/kernels/cuda/kernels.hpp"

namespace mini::kernels::cuda {
namespace {

struct Words {
    uint32_t at[4];
};

__device__ Words philox(Words counter, uint64_t seed) {
    constexpr uint32_t kMultiplierA = 0xd2511f53, kMultiplierB = 0xcd9e8d57;
    constexpr uint32_t kStepA = 0x9e3779b9, kStepB = 0xbb67ae85;  // golden ratio, sqrt(3)
    auto key_a = static_cast<uint32_t>(seed), key_b = static_cast<uint32_t>(seed >> 32);
    for (int round = 0; round < 10; ++round) {
        const auto [a, b, c, d] = counter.at;
        counter = {__umulhi(kMultiplierB, c) ^ b ^ key_a, kMultiplierB * c,
                   __umulhi(kMultiplierA, a) ^ d ^ key_b, kMultiplierA * a};
        key_a += kStepA;
        key_b += kStepB;
    }
    return counter;
}

// Returns the random word of element i.
__device__ uint32_t word_of(const PhiloxState& state, int64_t i) {
    const uint64_t offset = state.offset / 4, s = static_cast<uint64_t>(i) / 4;
    const Words words =
        philox({{static_cast<uint32_t>(offset), static_cast<uint32_t>(offset >> 32),
                 static_cast<uint32_t>(s), static_cast<uint32_t>(s >> 32)}},
               state.seed);
    const uint32_t low = i % 2 == 0 ? words.at[0] : words.at[1];
    const uint32_t high = i % 2 == 0 ? words.at[2] : words.at[3];
    return i % 4 < 2 ? low : high;  // an index would put the words into local memory
}

// Returns whether a Bernoulli draw succeeds: never for probability 0, always for 1.
__device__ bool succeeds(uint32_t word, float probability) {
    constexpr float kStep = 0x1p-32f;
    return static_cast<float>(word) * kStep + kStep / 2 <= probability;
}

}  // namespace

void fill_philox(uint32_t* out, int64_t n, PhiloxState state, cudaStream_t stream) {
    each([=] __device__(int64_t i) { out[i] = word_of(state, i); }, n, stream);
}

void fill_bernoulli(float* out, int64_t n, double probability, float value,
                    PhiloxState state, cudaStream_t stream) {
    const auto limit = static_cast<float>(probability);
    const auto draw = [=] __device__(int64_t i) {
        out[i] = succeeds(word_of(state, i), limit) ? value : 0.0f;
    };
    each(draw, n, stream);
}

}  // namespace mini::kernels::cuda
