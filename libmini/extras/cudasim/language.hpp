// CUDA C++'s device language for a plain C++ compiler: keywords, coordinates, barriers,
// shuffles, votes, atomics and intrinsics.

#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "libmini/extras/cudasim/api.hpp"
#include "libmini/extras/cudasim/block.hpp"
#include "libmini/extras/cudasim/hooks.hpp"
#include "libmini/extras/cudasim/vectors.hpp"

// Always inlined, so that the checker sees the source line of the kernel.
#define MINI_WORD inline __attribute__((always_inline))

// Before a call: Clang does not merge it with the same call in another branch, which would
// make one barrier of two. For GCC see mini_simulated_kernels.
#ifdef __clang__
#define MINI_UNMERGED [[clang::nomerge]]
#else
#define MINI_UNMERGED
#endif

#define __global__
#define __device__
#define __host__
#define __forceinline__ inline
#define __restrict__ __restrict
#define __launch_bounds__(...)
#define __align__(n) __attribute__((aligned(n)))  // before or after __shared__
#define __constant__
// A block runs on one host thread, so exactly the threads of the block share a
// thread-local variable. Its initial value is constant, so it needs no guard variable, which
// Clang knows, but calls structures without initial values an error.
#ifdef __clang__
#define __shared__ static thread_local
#else
#define __shared__ static constinit thread_local
#endif

#define threadIdx (mini::sim::thread_index())
#define blockIdx (mini::sim::block_index())
#define blockDim (mini::sim::block_extent())
#define gridDim (mini::sim::grid_extent())

constexpr int warpSize = 32;

using std::max;
using std::min;

MINI_WORD void __syncthreads() { MINI_UNMERGED mini::sim::block_barrier(); }
MINI_WORD int __syncthreads_count(int predicate) {
    MINI_UNMERGED return mini::sim::block_vote(predicate != 0);
}
MINI_WORD int __syncthreads_or(int predicate) {
    return __syncthreads_count(predicate) != 0;
}
MINI_WORD int __syncthreads_and(int predicate) {
    return __syncthreads_count(!predicate) == 0;  // exited threads do not vote
}
MINI_WORD void __syncwarp(unsigned mask = 0xffffffffu) {
    MINI_UNMERGED mini::sim::warp_barrier(mask);
}
MINI_WORD void __threadfence() { mini::sim::note_fence(mini::sim::Scope::kDevice); }
MINI_WORD void __threadfence_block() { mini::sim::note_fence(mini::sim::Scope::kBlock); }

// Shuffles take any value of up to 8 bytes. A lane whose source is not in its part of the
// warp, of `width` lanes, keeps its value. clang-format off
#define MINI_SHUFFLE(name, type, source, inside)                              \
    template <typename T>                                                     \
    MINI_WORD T name(unsigned mask, T value, type by, int width = warpSize) { \
        const int self = mini::sim::lane(), lanes = static_cast<int>(by);     \
        [[maybe_unused]] const int first = self & ~(width - 1);               \
        const int other = source, from = inside ? other : self;               \
        mini::sim::note_exchange(mask, from);                                 \
        return mini::sim::exchange(mask, value, from);                        \
    }
MINI_SHUFFLE(__shfl_sync, int, first | (lanes & (width - 1)), true)
MINI_SHUFFLE(__shfl_xor_sync, int, self ^ lanes, other < first + width)
MINI_SHUFFLE(__shfl_down_sync, unsigned, self + lanes, other < first + width)
MINI_SHUFFLE(__shfl_up_sync, unsigned, self - lanes, other >= first)
#undef MINI_SHUFFLE
// clang-format on
MINI_WORD unsigned __ballot_sync(unsigned mask, int predicate) {
    mini::sim::note_exchange(mask, -1);
    return mini::sim::ballot(mask, predicate != 0);
}
MINI_WORD int __any_sync(unsigned mask, int predicate) {
    return __ballot_sync(mask, predicate) != 0;
}
MINI_WORD int __all_sync(unsigned mask, int predicate) {
    return __ballot_sync(mask, !predicate) == 0;  // exited lanes do not vote
}

// Blocks run in parallel on host threads, so these functions use host atomics. The value
// takes the type of the memory. clang-format off
namespace mini::cuda {
template <typename T, typename F>
MINI_WORD T atomic_change(T* at, F changed) {
    sim::note_atomic(at, sizeof(T));
    const std::atomic_ref<T> target(*at);
    T seen = target.load();
    while (!target.compare_exchange_weak(seen, changed(seen))) {
    }
    return seen;
}
template <typename T>
concept Number = std::is_arithmetic_v<T>;
}  // namespace mini::cuda
#define MINI_ATOMIC(name, changed)                                         \
    template <mini::cuda::Number T, mini::cuda::Number U>                  \
    MINI_WORD T name(T* at, U by) {                                        \
        const auto change = [value = T(by)](T old) { return T(changed); }; \
        return mini::cuda::atomic_change(at, change);                      \
    }
MINI_ATOMIC(atomicAdd, old + value)
MINI_ATOMIC(atomicSub, old - value)
MINI_ATOMIC(atomicMin, value < old ? value : old)
MINI_ATOMIC(atomicMax, old < value ? value : old)
MINI_ATOMIC(atomicAnd, old& value)
MINI_ATOMIC(atomicOr, old | value)
MINI_ATOMIC(atomicXor, old ^ value)
MINI_ATOMIC(atomicInc, old >= value ? T{0} : old + 1)
MINI_ATOMIC(atomicDec, old == 0 || old > value ? value : old - 1)
MINI_ATOMIC(atomicExch, (static_cast<void>(old), value))
template <mini::cuda::Number T, mini::cuda::Number U, mini::cuda::Number V>
MINI_WORD T atomicCAS(T* at, U expected, V value) {
    mini::sim::note_atomic(at, sizeof(T));
    T seen = static_cast<T>(expected);
    std::atomic_ref<T>(*at).compare_exchange_strong(seen, static_cast<T>(value));
    return seen;
}
#undef MINI_ATOMIC
// clang-format on

inline float __expf(float x) { return std::exp(x); }
inline float __logf(float x) { return std::log(x); }
inline float rsqrtf(float x) { return 1.0f / std::sqrt(x); }
inline float __fmaf_rn(float a, float b, float c) { return std::fma(a, b, c); }
inline float __fdividef(float a, float b) { return a / b; }
inline float __int_as_float(int x) { return std::bit_cast<float>(x); }
inline int __float_as_int(float x) { return std::bit_cast<int>(x); }
inline unsigned __umulhi(unsigned a, unsigned b) {
    return static_cast<unsigned>((static_cast<uint64_t>(a) * b) >> 32);
}
inline int __popc(unsigned x) { return std::popcount(x); }
template <typename T>
MINI_WORD T __ldg(const T* address) {
    return *address;
}

#undef MINI_WORD
