// Elementwise kernels: one formula for all elements.
//
// Contiguous arrays use map(): 16 bytes per access, every array once. An array that is
// broadcast has a stride of 0, and its offsets are computed by OffsetCalculator:
//
//     shape (128, 50)    a (50, 1)    b (0, 1)
//     thread i           a[i]         b[i % 50]      b is cached: traffic of 8 bytes

#include "libmini/kernels/cuda/each.hpp"

#include <cstddef>
#include <span>

#include "libmini/kernels/cuda/kernels.hpp"
#include "libmini/kernels/cuda/strides.hpp"

namespace mini::kernels::cuda {
namespace {

// Computes element i of out from operands with any strides.
template <typename Op>
struct Strided {
    Op op;
    float* out;
    const float *a, *b;
    OffsetCalculator<2> calculator;

    __device__ void operator()(int64_t i) const {
        int64_t offsets[2];
        calculator.find(i, offsets);
        out[i] = op(a[offsets[0]], b[offsets[1]]);
    }
};

template <typename Op>
void binary_with(Op op, float* out, const float* a, const float* b,
                 const cpu::StridedLoop<2>& loop, cudaStream_t stream) {
    constexpr cpu::StridedLoop<2>::Offsets kContiguous = {1, 1};
    if (loop.dimensions().size() == 1 && loop.steps() == kContiguous)
        map(op, out, loop.size(), stream, a, b);
    else
        each(Strided<Op>{op, out, a, b, OffsetCalculator<2>(loop)}, loop.size(), stream);
}

// The standard normal distribution: the probability of numbers below v, and the density.
__device__ float normal_cdf(float v) { return 0.5f + 0.5f * erff(v * 0.70710678f); }
__device__ float normal_density(float v) { return 0.39894228f * expf(-0.5f * v * v); }

}  // namespace

void binary(BinaryOp op, float* out, const float* a, const float* b,
            std::span<const int64_t> shape, std::span<const int64_t> a_strides,
            std::span<const int64_t> b_strides, cudaStream_t stream) {
    const cpu::StridedLoop<2> loop(shape, {a_strides, b_strides});
    const auto apply = [&](const auto& f) { binary_with(f, out, a, b, loop, stream); };
    switch (op) {
        case BinaryOp::kAdd:
            return apply([] __device__(float x, float y) { return x + y; });
        case BinaryOp::kSub:
            return apply([] __device__(float x, float y) { return x - y; });
        case BinaryOp::kMul:
            return apply([] __device__(float x, float y) { return x * y; });
        case BinaryOp::kDiv:
            return apply([] __device__(float x, float y) { return x / y; });
    }
}

void unary(UnaryOp op, float* out, const float* x, int64_t n, cudaStream_t stream) {
    const auto apply = [&](const auto& f) { map(f, out, n, stream, x); };
    switch (op) {
        case UnaryOp::kNeg: return apply([] __device__(float v) { return -v; });
        case UnaryOp::kExp: return apply([] __device__(float v) { return expf(v); });
        case UnaryOp::kLog: return apply([] __device__(float v) { return logf(v); });
        case UnaryOp::kSqrt: return apply([] __device__(float v) { return sqrtf(v); });
        case UnaryOp::kReLU:  // returns NaN for NaN
            return apply([] __device__(float v) { return v < 0.0f ? 0.0f : v; });
        case UnaryOp::kSigmoid:
            return apply([] __device__(float v) { return 1.0f / (1.0f + expf(-v)); });
        case UnaryOp::kTanh: return apply([] __device__(float v) { return tanhf(v); });
        case UnaryOp::kGELU:
            return apply([] __device__(float v) { return v * normal_cdf(v); });
        case UnaryOp::kGELUSlope:
            return apply(
                [] __device__(float v) { return normal_cdf(v) + v * normal_density(v); });
    }
}

void relu_backward(float* out, const float* g, const float* y, int64_t n,
                   cudaStream_t stream) {
    map([] __device__(float g, float y) { return y <= 0.0f ? 0.0f : g; }, out, n, stream,
        g, y);
}

void axpy(float* y, const float* x, float alpha, int64_t n, cudaStream_t stream) {
    map([alpha] __device__(float y, float x) { return y + alpha * x; }, y, n, stream, y,
        x);
}

void scale(float* x, float alpha, int64_t n, cudaStream_t stream) {
    map([alpha] __device__(float v) { return v * alpha; }, x, n, stream, x);
}

void fill(float* out, float value, int64_t n, cudaStream_t stream) {
    fill_elements(out, value, n, DType::kFloat32, stream);
}

}  // namespace mini::kernels::cuda
