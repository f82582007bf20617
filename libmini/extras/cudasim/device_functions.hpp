// The part of CUDA C++'s device language that libmini's own kernels do not use: arithmetic,
// loads and stores with hints.

#pragma once

#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <type_traits>

#include "libmini/extras/cudasim/block.hpp"
#include "libmini/extras/cudasim/hooks.hpp"
#include "libmini/extras/cudasim/language.hpp"

#define MINI_WORD inline __attribute__((always_inline))

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
#define MINI_OF_FLOAT(name, value) MINI_FUNCTION(float, name, (float x), value)
MINI_OF_FLOAT(rsqrt, 1 / std::sqrt(x))
MINI_OF_FLOAT(__frsqrt_rn, 1 / std::sqrt(x))
MINI_OF_FLOAT(__sinf, std::sin(x))
MINI_OF_FLOAT(__cosf, std::cos(x))
MINI_OF_FLOAT(__log2f, std::log2(x))
MINI_OF_FLOAT(exp10f, std::pow(10.0f, x))
MINI_FUNCTION(double, rsqrt, (double x), 1 / std::sqrt(x))
MINI_FUNCTION(float, __powf, (float x, float y), std::pow(x, y))
MINI_FUNCTION(float, __fadd_rn, (float x, float y), x + y)
MINI_FUNCTION(float, __fsub_rn, (float x, float y), x - y)
MINI_FUNCTION(float, __fmul_rn, (float x, float y), x * y)
MINI_FUNCTION(float, __fdiv_rn, (float x, float y), x / y)
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
MINI_FUNCTION(unsigned, __float_as_uint, (float x), std::bit_cast<unsigned>(x))
MINI_FUNCTION(float, __uint_as_float, (unsigned x), std::bit_cast<float>(x))
MINI_FUNCTION(long long, __double_as_longlong, (double x), std::bit_cast<long long>(x))
MINI_FUNCTION(double, __longlong_as_double, (long long x), std::bit_cast<double>(x))
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
MINI_LOAD(__ldcs) MINI_LOAD(__ldcg) MINI_LOAD(__ldca) MINI_LOAD(__ldlu) MINI_LOAD(__ldcv)
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
#undef MINI_WORD
