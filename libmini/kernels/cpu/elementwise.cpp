// Elementwise kernels: simple loops that the compiler vectorises.
//
// The operation is selected once per call, outside the loop. Every element is computed by
// the same formula at any address. So if a tensor is computed in two halves, the results
// are bitwise identical to those of one call.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <span>

#include "libmini/core/parallel.hpp"
#include "libmini/kernels/cpu/strided.hpp"
#include "libmini/kernels/kernels.hpp"

namespace mini::kernels::cpu {
namespace {

// Computes a run of n elements; element i of an operand is i steps after its first. The
// common steps have separate loops, which the compiler can vectorise.
template <typename Op>
void binary_run(Op op, int64_t n, float* out, const float* a, int64_t a_step,
                const float* b, int64_t b_step) {
    if (a_step == 1 && b_step == 1) {
        for (int64_t i = 0; i < n; ++i) out[i] = op(a[i], b[i]);
    } else if (a_step == 1 && b_step == 0) {
        const float value = *b;
        for (int64_t i = 0; i < n; ++i) out[i] = op(a[i], value);
    } else if (a_step == 0 && b_step == 1) {
        const float value = *a;
        for (int64_t i = 0; i < n; ++i) out[i] = op(value, b[i]);
    } else {
        for (int64_t i = 0; i < n; ++i) out[i] = op(a[i * a_step], b[i * b_step]);
    }
}

template <typename Op>
void binary_loop(Op op, float* out, const float* a, const float* b,
                 const StridedLoop<2>& loop) {
    const int64_t a_step = loop.steps()[0], b_step = loop.steps()[1];
    loop.for_each_run([&](int64_t n, int64_t first,
                          const std::array<int64_t, 2>& offsets) {
        binary_run(op, n, out + first, a + offsets[0], a_step, b + offsets[1], b_step);
    });
}

template <typename Op>
void unary_loop(float* out, const float* x, int64_t n, Op op) {
    parallel_for(n, kElementGrain, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) out[i] = op(x[i]);
    });
}

float relu(float v) { return v < 0.0f ? 0.0f : v; }

// Returns erf(v), with an error of at most 4.3e-7: a quotient of two polynomials, whose
// coefficients are those of Eigen. The compiler vectorises it, unlike std::erf: 0.5 ns an
// element in place of 9.4 ns (AMD EPYC). In float, erf is +-1 beyond +-4. NaN gives NaN.
float fast_erf(float v) {
    const float x = std::min(std::max(v, -4.0f), 4.0f), t = x * x;
    float p = -2.72614225801306e-10f * t + 2.77068142495902e-08f;
    p = p * t - 2.10102402082508e-06f;
    p = p * t - 5.69250639462346e-05f;
    p = p * t - 7.34990630326855e-04f;
    p = p * t - 2.95459980854025e-03f;
    p = p * t - 1.60960333262415e-02f;
    float q = -1.45660718464996e-05f * t - 2.13374055278905e-04f;
    q = q * t - 1.68282697438203e-03f;
    q = q * t - 7.37332916720468e-03f;
    q = q * t - 1.42647390514189e-02f;
    return x * p / q;
}

// The standard normal distribution: the probability of numbers below v, and the density.
float normal_cdf(float v) { return 0.5f + 0.5f * fast_erf(v * 0.70710678f); }
float normal_density(float v) { return 0.39894228f * std::exp(-0.5f * v * v); }

// With a size known at compile time, memcpy is one instruction.
template <int64_t kBytes>
void copy_items(std::byte* to, int64_t to_step, const std::byte* from, int64_t from_step,
                int64_t n) {
    for (int64_t i = 0; i < n; ++i)
        std::memcpy(to + i * to_step, from + i * from_step, kBytes);
}

// Copies n items; steps are in bytes.
void copy_run(std::byte* to, int64_t to_step, const std::byte* from, int64_t from_step,
              int64_t n, int64_t item_bytes) {
    if (to_step == item_bytes && from_step == item_bytes) {
        std::memcpy(to, from, static_cast<size_t>(n * item_bytes));
    } else if (item_bytes == 4) {
        copy_items<4>(to, to_step, from, from_step, n);
    } else if (item_bytes == 8) {
        copy_items<8>(to, to_step, from, from_step, n);
    } else {
        for (int64_t i = 0; i < n; ++i)
            std::memcpy(to + i * to_step, from + i * from_step,
                        static_cast<size_t>(item_bytes));
    }
}

}  // namespace

void binary(BinaryOp op, float* out, const float* a, const float* b,
            std::span<const int64_t> shape, std::span<const int64_t> a_strides,
            std::span<const int64_t> b_strides) {
    const StridedLoop<2> loop(shape, {a_strides, b_strides});
    switch (op) {
        case BinaryOp::kAdd: return binary_loop(std::plus<float>(), out, a, b, loop);
        case BinaryOp::kSub: return binary_loop(std::minus<float>(), out, a, b, loop);
        case BinaryOp::kMul:
            return binary_loop(std::multiplies<float>(), out, a, b, loop);
        case BinaryOp::kDiv: return binary_loop(std::divides<float>(), out, a, b, loop);
    }
}

void unary(UnaryOp op, float* out, const float* x, int64_t n) {
    switch (op) {
        case UnaryOp::kNeg: return unary_loop(out, x, n, [](float v) { return -v; });
        case UnaryOp::kExp:
            return unary_loop(out, x, n, [](float v) { return std::exp(v); });
        case UnaryOp::kLog:
            return unary_loop(out, x, n, [](float v) { return std::log(v); });
        case UnaryOp::kSqrt:
            return unary_loop(out, x, n, [](float v) { return std::sqrt(v); });
        case UnaryOp::kReLU:
            return unary_loop(out, x, n, [](float v) { return relu(v); });
        case UnaryOp::kSigmoid:
            return unary_loop(out, x, n,
                              [](float v) { return 1.0f / (1.0f + std::exp(-v)); });
        case UnaryOp::kTanh:
            return unary_loop(out, x, n, [](float v) { return std::tanh(v); });
        case UnaryOp::kGELU:
            return unary_loop(out, x, n, [](float v) { return v * normal_cdf(v); });
        case UnaryOp::kGELUSlope:
            return unary_loop(
                out, x, n, [](float v) { return normal_cdf(v) + v * normal_density(v); });
    }
}

void relu_backward(float* out, const float* g, const float* y, int64_t n) {
    parallel_for(n, kElementGrain, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
            const float gradient = g[i];  // always read: the loop then has no branches
            out[i] = y[i] <= 0.0f ? 0.0f : gradient;
        }
    });
}

void axpy(float* y, const float* x, float alpha, int64_t n) {
    parallel_for(n, kElementGrain, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) y[i] += alpha * x[i];
    });
}

void scale(float* x, float alpha, int64_t n) {
    parallel_for(n, kElementGrain, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) x[i] *= alpha;
    });
}

void fill(float* out, float value, int64_t n) {
    parallel_for(n, kElementGrain, [&](int64_t begin, int64_t end) {
        std::fill(out + begin, out + end, value);
    });
}

void copy_strided(std::byte* out, const std::byte* x, std::span<const int64_t> shape,
                  std::span<const int64_t> strides, int64_t item_bytes) {
    const StridedLoop<1> loop(shape, {strides});
    const int64_t step = loop.steps()[0] * item_bytes;
    loop.for_each_run(
        [&](int64_t n, int64_t first, const std::array<int64_t, 1>& offsets) {
            copy_run(out + first * item_bytes, item_bytes, x + offsets[0] * item_bytes,
                     step, n, item_bytes);
        });
}

void copy_to_strided(std::byte* out, const std::byte* x, std::span<const int64_t> shape,
                     std::span<const int64_t> strides, int64_t item_bytes) {
    const StridedLoop<1> loop(shape, {strides});
    const int64_t step = loop.steps()[0] * item_bytes;
    loop.for_each_run(
        [&](int64_t n, int64_t first, const std::array<int64_t, 1>& offsets) {
            copy_run(out + offsets[0] * item_bytes, step, x + first * item_bytes,
                     item_bytes, n, item_bytes);
        });
}

}  // namespace mini::kernels::cpu
