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

// A function of device code: always inlined, so that the checker sees the source line of the
// kernel.
#define MINI_WORD inline __attribute__((always_inline))
#define MINI_FUNCTION(result, name, parameters, value) \
    MINI_WORD result name parameters { return value; }

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
#define __launch_bounds__(...)
#define __align__(n) __attribute__((aligned(n)))  // before or after __shared__
#define __constant__
// A block runs on one host thread, so exactly the threads of the block share a
// thread-local variable. Its initial value is constant, so it needs no guard variable, which
// Clang knows, but calls structures without initial values an error.
#ifdef __clang__
#define __shared__ thread_local
#else
#define __shared__ constinit thread_local
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
// Exited threads, and lanes, do not vote.
MINI_FUNCTION(int, __syncthreads_or, (int vote), __syncthreads_count(vote) != 0)
MINI_FUNCTION(int, __syncthreads_and, (int vote), __syncthreads_count(!vote) == 0)
MINI_WORD void __syncwarp(unsigned mask = 0xffffffffu) {
    MINI_UNMERGED mini::sim::ballot(mask, false, mini::sim::kBarrier);
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
        return mini::sim::exchange(mask, value, from);                        \
    }
MINI_SHUFFLE(__shfl_sync, int, first | (lanes & (width - 1)), true)
MINI_SHUFFLE(__shfl_xor_sync, int, self ^ lanes, other < first + width)
MINI_SHUFFLE(__shfl_down_sync, unsigned, self + lanes, other < first + width)
MINI_SHUFFLE(__shfl_up_sync, unsigned, self - lanes, other >= first)
// clang-format on
MINI_WORD unsigned __ballot_sync(unsigned mask, int predicate) {
    return mini::sim::ballot(mask, predicate != 0);
}
MINI_FUNCTION(int, __any_sync, (unsigned mask, int vote), __ballot_sync(mask, vote) != 0)
MINI_FUNCTION(int, __all_sync, (unsigned mask, int vote), __ballot_sync(mask, !vote) == 0)

// Blocks run in parallel on host threads, so these functions use host atomics. The value
// takes the type of the memory.
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
// clang-format off
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
MINI_ATOMIC(atomicAdd, old + value) MINI_ATOMIC(atomicSub, old - value)
MINI_ATOMIC(atomicMin, value < old ? value : old)
MINI_ATOMIC(atomicMax, old < value ? value : old) MINI_ATOMIC(atomicAnd, old& value)
MINI_ATOMIC(atomicOr, old | value) MINI_ATOMIC(atomicXor, old ^ value)
MINI_ATOMIC(atomicInc, old >= value ? T{0} : old + 1)
MINI_ATOMIC(atomicDec, old == 0 || old > value ? value : old - 1)
MINI_ATOMIC(atomicExch, (static_cast<void>(old), value))
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

// CUDA's vector types: char1 to double4, and make_char1() to make_double4().
//
// A vector of up to 16 bytes is loaded or stored in one access: copies use a compiler vector
// type, which the instrumentation reports as one access.
#define MINI_WHOLE(name, bytes, type)                                              \
    using Whole [[gnu::vector_size(bytes), gnu::may_alias]] = type;                \
    name() = default;                                                              \
    MINI_WORD name(const name& other) { *this = other; }                           \
    MINI_WORD name& operator=(const name& other) {                                 \
        *reinterpret_cast<Whole*>(this) = *reinterpret_cast<const Whole*>(&other); \
        return *this;                                                              \
    }
#define MINI_VECTOR_2(name, bytes, type)                                           \
    struct alignas(bytes) name {                                                   \
        type x, y;                                                                 \
        MINI_WHOLE(name, bytes, type)                                              \
        MINI_WORD name(type x, type y = 0) : x(x), y(y) {}                         \
    };                                                                             \
    MINI_WORD name make_##name(type x, type y) { return {x, y}; }
#define MINI_VECTOR_4(name, bytes, type)                                           \
    struct alignas(bytes) name {                                                   \
        type x, y, z, w;                                                           \
        MINI_WHOLE(name, bytes, type)                                              \
        MINI_WORD name(type x, type y = 0, type z = 0, type w = 0)                 \
            : x(x), y(y), z(z), w(w) {}                                            \
    };                                                                             \
    MINI_WORD name make_##name(type x, type y, type z, type w) { return {x, y, z, w}; }
// The types that no instruction loads as a whole.
#define MINI_PLAIN_VECTORS(name, type)                                             \
    struct name##1 { type x; };                                                    \
    struct name##3 { type x, y, z; };                                              \
    MINI_WORD name##1 make_##name##1(type x) { return {x}; }                       \
    MINI_WORD name##3 make_##name##3(type x, type y, type z) { return {x, y, z}; }
#define MINI_VECTORS(name, bytes, type)                                            \
    MINI_PLAIN_VECTORS(name, type)                                                 \
    MINI_VECTOR_2(name##2, 2 * bytes, type)                                        \
    MINI_VECTOR_4(name##4, 4 * bytes, type)
#define MINI_LONG_VECTORS(name, type)                                              \
    MINI_PLAIN_VECTORS(name, type)                                                 \
    MINI_VECTOR_2(name##2, 16, type)                                               \
    struct alignas(16) name##4 { type x, y, z, w; };                               \
    MINI_WORD name##4 make_##name##4(type x, type y, type z, type w) { return {x, y, z, w}; }
MINI_VECTORS(char, 1, signed char) MINI_VECTORS(uchar, 1, unsigned char)
MINI_VECTORS(short, 2, short) MINI_VECTORS(ushort, 2, unsigned short)
MINI_VECTORS(int, 4, int) MINI_VECTORS(uint, 4, unsigned) MINI_VECTORS(float, 4, float)
MINI_LONG_VECTORS(long, long) MINI_LONG_VECTORS(ulong, unsigned long)
MINI_LONG_VECTORS(longlong, long long) MINI_LONG_VECTORS(ulonglong, unsigned long long)
MINI_LONG_VECTORS(double, double)

// ---- arithmetic: min and max of two types, and intrinsics ----
#define MINI_OF_MIXED(name)                                                              \
    template <mini::cuda::Number A, mini::cuda::Number B> requires(!std::is_same_v<A, B>) \
    constexpr auto name(A a, B b) { return std::name<std::common_type_t<A, B>>(a, b); }
MINI_OF_MIXED(max) MINI_OF_MIXED(min)
// Functions, so that they come before the templates that a program declares.
#define MINI_MAX_MIN(T)                                          \
    constexpr T max(T a, T b) { return a < b ? b : a; }          \
    constexpr T min(T a, T b) { return b < a ? b : a; }
MINI_MAX_MIN(int) MINI_MAX_MIN(unsigned) MINI_MAX_MIN(long) MINI_MAX_MIN(unsigned long)
MINI_MAX_MIN(long long) MINI_MAX_MIN(unsigned long long) MINI_MAX_MIN(float) MINI_MAX_MIN(double)
#define MINI_OF_FLOAT(name, value) MINI_FUNCTION(float, name, (float x), value)
MINI_OF_FLOAT(__expf, std::exp(x)) MINI_OF_FLOAT(__logf, std::log(x))
MINI_OF_FLOAT(rsqrtf, 1 / std::sqrt(x)) MINI_OF_FLOAT(rsqrt, 1 / std::sqrt(x))
MINI_OF_FLOAT(__frsqrt_rn, 1 / std::sqrt(x)) MINI_OF_FLOAT(__sinf, std::sin(x))
MINI_OF_FLOAT(__cosf, std::cos(x)) MINI_OF_FLOAT(__log2f, std::log2(x))
MINI_OF_FLOAT(__saturatef, std::clamp(x, 0.0f, 1.0f))
MINI_OF_FLOAT(exp10f, std::pow(10.0f, x))
MINI_FUNCTION(double, rsqrt, (double x), 1 / std::sqrt(x))
MINI_FUNCTION(float, __powf, (float x, float y), std::pow(x, y))
#define MINI_OF_TWO(name, op) MINI_FUNCTION(float, name, (float x, float y), x op y)
MINI_OF_TWO(__fadd_rn, +) MINI_OF_TWO(__fsub_rn, -) MINI_OF_TWO(__fmul_rn, *)
MINI_OF_TWO(__fdiv_rn, /) MINI_OF_TWO(__fdividef, /)
MINI_FUNCTION(float, __fmaf_rn, (float a, float b, float c), std::fma(a, b, c))
MINI_FUNCTION(void, __sincosf, (float x, float* s, float* c), sincosf(x, s, c))
#define MINI_ROUNDED(name, to, from)                                                    \
    MINI_FUNCTION(to, name##_rn, (from x), static_cast<to>(std::nearbyint(x)))          \
    MINI_FUNCTION(to, name##_rz, (from x), static_cast<to>(x))                          \
    MINI_FUNCTION(to, name##_rd, (from x), static_cast<to>(std::floor(x)))              \
    MINI_FUNCTION(to, name##_ru, (from x), static_cast<to>(std::ceil(x)))
MINI_ROUNDED(__float2int, int, float) MINI_ROUNDED(__float2uint, unsigned, float)
#define MINI_CAST(name, to, from) MINI_FUNCTION(to, name, (from x), static_cast<to>(x))
MINI_CAST(__int2float_rn, float, int) MINI_CAST(__uint2float_rn, float, unsigned)
MINI_CAST(__int2double_rn, double, int) MINI_CAST(__double2float_rn, float, double)
#define MINI_BITS(name, to, from) MINI_FUNCTION(to, name, (from x), std::bit_cast<to>(x))
MINI_BITS(__float_as_int, int, float) MINI_BITS(__int_as_float, float, int)
MINI_BITS(__float_as_uint, unsigned, float) MINI_BITS(__uint_as_float, float, unsigned)
MINI_BITS(__double_as_longlong, long long, double)
MINI_BITS(__longlong_as_double, double, long long)
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

MINI_WORD unsigned __activemask() { MINI_UNMERGED return mini::sim::active_lanes(); }

#define CUDART_PI_F 3.141592654f
#define CUDART_PI 3.1415926535897931
#define CUDART_INF_F __builtin_inff()
#define CUDART_NAN_F __builtin_nanf("")
