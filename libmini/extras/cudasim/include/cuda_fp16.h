// half and bfloat16: stored in 16 bits, computed in float and rounded to nearest even.

#pragma once

#include "libmini/core/half.hpp"
#include "libmini/extras/cudasim/program.hpp"

namespace mini::cuda {

template <typename Format>
struct Short {
    uint16_t bits;

    Short() = default;
    template <typename T>
        requires std::is_arithmetic_v<T>
    MINI_WORD Short(T value) : bits(Format(static_cast<float>(value)).bits()) {}
    MINI_WORD operator float() const { return static_cast<float>(Format::from_bits(bits)); }
    MINI_WORD static Short of(uint16_t bits) {
        Short value;
        value.bits = bits;
        return value;
    }
    MINI_WORD friend Short operator-(Short a) { return of(a.bits ^ 0x8000); }
#define MINI_OPERATOR(op)                                                                   \
    MINI_WORD friend Short operator op(Short a, Short b) { return float(a) op float(b); }   \
    MINI_WORD Short& operator op##=(Short b) { return *this = *this op b; }
    MINI_OPERATOR(+) MINI_OPERATOR(-) MINI_OPERATOR(*) MINI_OPERATOR(/)
#undef MINI_OPERATOR
};

template <typename Format>
struct alignas(4) Short2 {
    Short<Format> x, y;

#define MINI_OPERATOR(op)                                                               \
    MINI_WORD friend Short2 operator op(Short2 a, Short2 b) { return {a.x op b.x, a.y op b.y}; }
    MINI_OPERATOR(+) MINI_OPERATOR(-) MINI_OPERATOR(*) MINI_OPERATOR(/)
#undef MINI_OPERATOR
};

}  // namespace mini::cuda

using __half = mini::cuda::Short<mini::Half>;
using __half2 = mini::cuda::Short2<mini::Half>;
using __nv_bfloat16 = mini::cuda::Short<mini::BFloat16>;
using __nv_bfloat162 = mini::cuda::Short2<mini::BFloat16>;
using half = __half;
using half2 = __half2;
using nv_bfloat16 = __nv_bfloat16;
using nv_bfloat162 = __nv_bfloat162;
#define MINI_SHORT_FUNCTIONS(H, H2, name)                                               \
    MINI_WORD H __float2##name(float x) { return x; }                                   \
    MINI_WORD H __float2##name##_rn(float x) { return x; }                              \
    MINI_WORD float __##name##2float(H x) { return x; }                                 \
    MINI_WORD H __ushort_as_##name(uint16_t bits) { return H::of(bits); }               \
    MINI_WORD uint16_t __##name##_as_ushort(H x) { return x.bits; }                     \
    MINI_WORD H2 __##name##2##name##2(H x) { return {x, x}; }                           \
    MINI_WORD H2 __float2##name##2_rn(float x) { return {x, x}; }                       \
    MINI_WORD H2 __halves2##name##2(H x, H y) { return {x, y}; }                        \
    MINI_WORD H2 __floats2##name##2_rn(float x, float y) { return {x, y}; }             \
    MINI_WORD float2 __##name##22float2(H2 a) { return {a.x, a.y}; }                    \
    MINI_WORD H __low2##name(H2 a) { return a.x; }                                      \
    MINI_WORD H __high2##name(H2 a) { return a.y; }                                     \
    MINI_WORD float __low2float(H2 a) { return a.x; }                                   \
    MINI_WORD float __high2float(H2 a) { return a.y; }                                  \
    MINI_WORD H __hadd(H a, H b) { return a + b; }                                      \
    MINI_WORD H __hsub(H a, H b) { return a - b; }                                      \
    MINI_WORD H __hmul(H a, H b) { return a * b; }                                      \
    MINI_WORD H __hdiv(H a, H b) { return a / b; }                                      \
    MINI_WORD H __habs(H a) { return H::of(a.bits & 0x7fff); }                          \
    MINI_WORD H __hmax(H a, H b) { return std::fmax(float(a), float(b)); }              \
    MINI_WORD H __hmin(H a, H b) { return std::fmin(float(a), float(b)); }              \
    MINI_WORD bool __hgt(H a, H b) { return a > b; }                                    \
    MINI_WORD bool __hlt(H a, H b) { return a < b; }                                    \
    MINI_WORD bool __heq(H a, H b) { return a == b; }                                   \
    MINI_WORD H __hfma(H a, H b, H c) { return std::fma(float(a), float(b), float(c)); } \
    MINI_WORD H2 __hadd2(H2 a, H2 b) { return a + b; }                                     \
    MINI_WORD H2 __hsub2(H2 a, H2 b) { return a - b; }                                     \
    MINI_WORD H2 __hmul2(H2 a, H2 b) { return a * b; }                                     \
    MINI_WORD H2 __hfma2(H2 a, H2 b, H2 c) { return {__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y)}; } \
    MINI_WORD H hexp(H a) { return std::exp(float(a)); }                                \
    MINI_WORD H hsqrt(H a) { return std::sqrt(float(a)); }                              \
    MINI_WORD H atomicAdd(H* at, H by) {                                                \
        return H::of(mini::cuda::atomic_change(                                         \
            &at->bits, [by](uint16_t old) { return (H::of(old) + by).bits; }));         \
    }                                                                                   \
    MINI_WORD H2 atomicAdd(H2* at, H2 by) { return {atomicAdd(&at->x, by.x), atomicAdd(&at->y, by.y)}; }
MINI_SHORT_FUNCTIONS(__half, __half2, half)
MINI_SHORT_FUNCTIONS(__nv_bfloat16, __nv_bfloat162, bfloat16)
