// Dropout, with a counter-based random generator.
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
// grid. u = (word + 1/2) / 2^32 is in (0, 1].
//
// Salmon, Moraes, Dror, Shaw 2011, "Parallel random numbers: as easy as 1, 2, 3".
// Traffic: x is read once, y and the mask are written once.

#include "libmini/kernels/cuda/each.hpp"
#include "libmini/kernels/cuda/kernels.hpp"

namespace mini::kernels::cuda {
namespace {

using mini::cuda::ceil_div;
using mini::cuda::launch;

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

// Returns the words of elements 4 s to 4 s + 3.
__device__ Words words_of(const PhiloxState& state, uint64_t s) {
    const uint64_t offset = state.offset / 4;
    return philox({{static_cast<uint32_t>(offset), static_cast<uint32_t>(offset >> 32),
                    static_cast<uint32_t>(s), static_cast<uint32_t>(s >> 32)}},
                  state.seed);
}

// Returns whether a Bernoulli draw succeeds: never for probability 0, always for 1.
__device__ bool succeeds(uint32_t word, float probability) {
    constexpr float kStep = 0x1p-32f;
    return static_cast<float>(word) * kStep + kStep / 2 <= probability;
}

// Loads the four elements from 4 s on: with one access if `wide` and all exist, else one
// by one, with zeros past the end.
template <typename T>
__device__ Pack<T, 4> load_four(const T* from, int64_t s, int64_t n, bool wide) {
    if (wide && 4 * s + 4 <= n) return load<4>(from + 4 * s);
    Pack<T, 4> four = {};
    for (int k = 0; k < 4; ++k)
        if (4 * s + k < n) four.at[k] = from[4 * s + k];
    return four;
}

template <typename T>
__device__ void store_four(T* to, int64_t s, int64_t n, bool wide,
                           const Pack<T, 4>& four) {
    if (wide && 4 * s + 4 <= n) return store(to + 4 * s, four);
    for (int k = 0; k < 4; ++k)
        if (4 * s + k < n) to[4 * s + k] = four.at[k];
}

__global__ void philox_kernel(uint32_t* out,  // (n)
                              int64_t n, bool wide, PhiloxState state) {
    for (int64_t s = thread_number(); 4 * s < n; s += thread_count()) {
        const auto [a, b, c, d] = words_of(state, static_cast<uint64_t>(s)).at;
        store_four(out, s, n, wide, Pack<uint32_t, 4>{{a, b, c, d}});
    }
}

// REQUIRES: x and y are both null, or neither is null.
__global__ void bernoulli_kernel(float* mask,     // (n)
                                 float* y,        // (n), or null
                                 const float* x,  // (n), or null
                                 int64_t n, bool wide, float probability, float value,
                                 PhiloxState state) {
    for (int64_t s = thread_number(); 4 * s < n; s += thread_count()) {
        const Words words = words_of(state, static_cast<uint64_t>(s));
        Pack<float, 4> factors;
        for (int k = 0; k < 4; ++k)
            factors.at[k] = succeeds(words.at[k], probability) ? value : 0.0f;
        store_four(mask, s, n, wide, factors);
        if (y == nullptr) continue;
        Pack<float, 4> four = load_four(x, s, n, wide);
        for (int k = 0; k < 4; ++k) four.at[k] *= factors.at[k];
        store_four(y, s, n, wide, four);
    }
}

}  // namespace

void fill_philox(uint32_t* out, int64_t n, PhiloxState state, cudaStream_t stream) {
    launch(philox_kernel, grid_for(ceil_div(n, 4)), stream, out, n, aligned<4>(out),
           state);
}

void fill_bernoulli(float* out, int64_t n, double probability, float value,
                    PhiloxState state, cudaStream_t stream) {
    launch(bernoulli_kernel, grid_for(ceil_div(n, 4)), stream, out,
           static_cast<float*>(nullptr), static_cast<const float*>(nullptr), n,
           aligned<4>(out), static_cast<float>(probability), value, state);
}

void dropout(float* y, float* mask, const float* x, int64_t n, double p,
             PhiloxState state, cudaStream_t stream) {
    const double keep = 1.0 - p;
    const float value = keep > 0.0 ? 1.0f / static_cast<float>(keep) : 0.0f;
    launch(bernoulli_kernel, grid_for(ceil_div(n, 4)), stream, mask, y, x, n,
           aligned<4>(mask, y, x), static_cast<float>(keep), value, state);
}

}  // namespace mini::kernels::cuda
