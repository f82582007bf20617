// CUDA C++'s device language for a plain C++ compiler: keywords, coordinates, barriers,
// shuffles, votes, atomics, intrinsics, and loads and stores with hints.

#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <type_traits>

#include "libmini/extras/cudasim/api.hpp"
#include "libmini/extras/cudasim/block.hpp"
#include "libmini/extras/cudasim/hooks.hpp"
#include "libmini/extras/cudasim/vectors.hpp"

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

#define threadIdx (mini::sim::coordinates(0))
#define blockIdx (mini::sim::coordinates(1))
#define blockDim (mini::sim::coordinates(2))
#define gridDim (mini::sim::coordinates(3))

constexpr int warpSize = 32;

using std::max;
using std::min;

MINI_WORD void __syncthreads() { MINI_UNMERGED mini::sim::block_barrier(); }
MINI_WORD int __syncthreads_count(int predicate) {
    MINI_UNMERGED return mini::sim::block_barrier(predicate != 0);
}
MINI_WORD int __syncthreads_or(int predicate) {
    return __syncthreads_count(predicate) != 0;
}
MINI_WORD int __syncthreads_and(int predicate) {
    return __syncthreads_count(!predicate) == 0;  // exited threads do not vote
}
MINI_WORD void __syncwarp(unsigned mask = 0xffffffffu) {
    MINI_UNMERGED mini::sim::ballot(mask);
}
MINI_WORD void __threadfence() { mini::sim::note_fence(mini::sim::Scope::kDevice); }
MINI_WORD void __threadfence_block() { mini::sim::note_fence(mini::sim::Scope::kBlock); }

// Shuffles take any value, also of more than 8 bytes. A lane whose source is not in its part of the
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
// CUDA's scopes, of the block or of the system, are the device's here.
#define MINI_ATOMIC(name, changed)     \
    MINI_SCOPED(name, changed)         \
    MINI_SCOPED(name##_block, changed) \
    MINI_SCOPED(name##_system, changed)
#define MINI_SCOPED(name, changed)                                         \
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
#undef MINI_SCOPED
#undef MINI_ATOMIC
template <mini::cuda::Number T, mini::cuda::Number U, mini::cuda::Number V>
MINI_WORD T atomicCAS(T* at, U expected, V value) {
    mini::sim::note_atomic(at, sizeof(T));
    T seen = static_cast<T>(expected);
    std::atomic_ref<T>(*at).compare_exchange_strong(seen, static_cast<T>(value));
    return seen;
}
#define atomicCAS_block atomicCAS
#define atomicCAS_system atomicCAS

// clang-format off
// ---- arithmetic: min and max of two types, and intrinsics ----
namespace mini::cuda {
template <typename A, typename B>
concept Mixed = std::is_arithmetic_v<A> && std::is_arithmetic_v<B> && !std::is_same_v<A, B>;
template <typename A, typename B>
using Common = std::common_type_t<A, B>;
}  // namespace mini::cuda
template <typename A, typename B> requires mini::cuda::Mixed<A, B>
constexpr mini::cuda::Common<A, B> max(A a, B b) {
    return std::max<mini::cuda::Common<A, B>>(a, b);
}
template <typename A, typename B> requires mini::cuda::Mixed<A, B>
constexpr mini::cuda::Common<A, B> min(A a, B b) {
    return std::min<mini::cuda::Common<A, B>>(a, b);
}
#define MINI_FUNCTION(result, name, parameters, value) \
    MINI_WORD result name parameters { return value; }
// Functions, so that they come before the templates that a program declares.
#define MINI_MAX_MIN(T)                                          \
    constexpr T max(T a, T b) { return a < b ? b : a; }          \
    constexpr T min(T a, T b) { return b < a ? b : a; }
MINI_MAX_MIN(int) MINI_MAX_MIN(unsigned) MINI_MAX_MIN(long) MINI_MAX_MIN(unsigned long)
MINI_MAX_MIN(long long) MINI_MAX_MIN(unsigned long long) MINI_MAX_MIN(float) MINI_MAX_MIN(double)
#undef MINI_MAX_MIN
#define MINI_OF_FLOAT(name, value) MINI_FUNCTION(float, name, (float x), value)
MINI_OF_FLOAT(__expf, std::exp(x))
MINI_OF_FLOAT(__logf, std::log(x))
MINI_OF_FLOAT(rsqrtf, 1 / std::sqrt(x))
MINI_OF_FLOAT(rsqrt, 1 / std::sqrt(x))
MINI_OF_FLOAT(__frsqrt_rn, 1 / std::sqrt(x))
MINI_OF_FLOAT(__sinf, std::sin(x))
MINI_OF_FLOAT(__cosf, std::cos(x))
MINI_OF_FLOAT(__log2f, std::log2(x))
MINI_OF_FLOAT(__saturatef, std::clamp(x, 0.0f, 1.0f))
MINI_OF_FLOAT(exp10f, std::pow(10.0f, x))
MINI_FUNCTION(double, rsqrt, (double x), 1 / std::sqrt(x))
MINI_FUNCTION(float, __powf, (float x, float y), std::pow(x, y))
MINI_FUNCTION(float, __fadd_rn, (float x, float y), x + y)
MINI_FUNCTION(float, __fsub_rn, (float x, float y), x - y)
MINI_FUNCTION(float, __fmul_rn, (float x, float y), x * y)
MINI_FUNCTION(float, __fdiv_rn, (float x, float y), x / y)
MINI_FUNCTION(float, __fmaf_rn, (float a, float b, float c), std::fma(a, b, c))
MINI_FUNCTION(float, __fdividef, (float x, float y), x / y)
MINI_FUNCTION(void, __sincosf, (float x, float* s, float* c), sincosf(x, s, c))
#define MINI_ROUNDED(name, to, from)                                                    \
    MINI_FUNCTION(to, name##_rn, (from x), static_cast<to>(std::nearbyint(x)))          \
    MINI_FUNCTION(to, name##_rz, (from x), static_cast<to>(x))                          \
    MINI_FUNCTION(to, name##_rd, (from x), static_cast<to>(std::floor(x)))              \
    MINI_FUNCTION(to, name##_ru, (from x), static_cast<to>(std::ceil(x)))
MINI_ROUNDED(__float2int, int, float)
MINI_ROUNDED(__float2uint, unsigned, float)
MINI_FUNCTION(float, __int2float_rn, (int x), static_cast<float>(x))
MINI_FUNCTION(float, __uint2float_rn, (unsigned x), static_cast<float>(x))
MINI_FUNCTION(double, __int2double_rn, (int x), x)
MINI_FUNCTION(float, __double2float_rn, (double x), static_cast<float>(x))
MINI_FUNCTION(int, __float_as_int, (float x), std::bit_cast<int>(x))
MINI_FUNCTION(float, __int_as_float, (int x), std::bit_cast<float>(x))
MINI_FUNCTION(unsigned, __float_as_uint, (float x), std::bit_cast<unsigned>(x))
MINI_FUNCTION(float, __uint_as_float, (unsigned x), std::bit_cast<float>(x))
MINI_FUNCTION(long long, __double_as_longlong, (double x), std::bit_cast<long long>(x))
MINI_FUNCTION(double, __longlong_as_double, (long long x), std::bit_cast<double>(x))
MINI_FUNCTION(unsigned, umin, (unsigned x, unsigned y), std::min(x, y))
MINI_FUNCTION(int, __mul24, (int x, int y), x * y)
MINI_FUNCTION(unsigned, __umul24, (unsigned x, unsigned y), x * y)
MINI_FUNCTION(unsigned, __umulhi, (unsigned x, unsigned y), static_cast<unsigned>(uint64_t{x} * y >> 32))
MINI_FUNCTION(int, __popc, (unsigned x), std::popcount(x))
MINI_FUNCTION(int, __popcll, (unsigned long long x), std::popcount(x))
MINI_FUNCTION(int, __clz, (int x), std::countl_zero(static_cast<unsigned>(x)))
MINI_FUNCTION(int, __clzll, (long long x), std::countl_zero(static_cast<unsigned long long>(x)))
MINI_FUNCTION(int, __ffs, (int x), __builtin_ffs(x))
MINI_FUNCTION(int, __ffsll, (long long x), __builtin_ffsll(x))
MINI_WORD unsigned __brev(unsigned x) {
    unsigned reversed = 0;
    for (int i = 0; i < 32; ++i) reversed |= (x >> i & 1u) << (31 - i);
    return reversed;
}
MINI_FUNCTION(void, __trap, (), std::abort())
MINI_FUNCTION(void, __threadfence_system, (), __threadfence())
// Ticks that only go up: nothing here takes time as on a GPU.
MINI_FUNCTION(long long, clock64, (), std::chrono::steady_clock::now().time_since_epoch().count())

// ---- loads and stores with hints for the caches ----
#define MINI_LOAD(name) template <typename T> MINI_FUNCTION(T, name, (const T* from), *from)
#define MINI_STORE(name) \
    template <typename T> MINI_WORD void name(T* to, T value) { *to = value; }
MINI_LOAD(__ldg) MINI_LOAD(__ldcs) MINI_LOAD(__ldcg) MINI_LOAD(__ldca) MINI_LOAD(__ldlu) MINI_LOAD(__ldcv)
MINI_STORE(__stcs) MINI_STORE(__stcg) MINI_STORE(__stwb) MINI_STORE(__stwt)

// The lanes of a branch are not known: all living lanes.
MINI_FUNCTION(unsigned, __activemask, (), mini::sim::living_lanes())

#define CUDART_PI_F 3.141592654f
#define CUDART_PI 3.1415926535897931
#define CUDART_INF_F __builtin_inff()
#define CUDART_NAN_F __builtin_nanf("")
// clang-format on

#undef MINI_STORE
#undef MINI_LOAD
#undef MINI_ROUNDED
#undef MINI_OF_FLOAT
#undef MINI_FUNCTION
