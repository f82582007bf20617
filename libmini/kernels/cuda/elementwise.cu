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

// ---- two operands

struct Add {
    __device__ float operator()(float a, float b) const { return a + b; }
};
struct Sub {
    __device__ float operator()(float a, float b) const { return a - b; }
};
struct Mul {
    __device__ float operator()(float a, float b) const { return a * b; }
};
struct Div {
    __device__ float operator()(float a, float b) const { return a / b; }
};

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

// ---- one operand

struct Neg {
    __device__ float operator()(float v) const { return -v; }
};
struct Exp {
    __device__ float operator()(float v) const { return expf(v); }
};
struct Log {
    __device__ float operator()(float v) const { return logf(v); }
};
struct Sqrt {
    __device__ float operator()(float v) const { return sqrtf(v); }
};
struct ReLU {  // returns NaN for NaN
    __device__ float operator()(float v) const { return v < 0.0f ? 0.0f : v; }
};
struct Sigmoid {
    __device__ float operator()(float v) const { return 1.0f / (1.0f + expf(-v)); }
};
struct Tanh {
    __device__ float operator()(float v) const { return tanhf(v); }
};

// The standard normal distribution: the probability of numbers below v, and the density.
__device__ float normal_cdf(float v) { return 0.5f + 0.5f * erff(v * 0.70710678f); }
__device__ float normal_density(float v) { return 0.39894228f * expf(-0.5f * v * v); }

struct GELU {
    __device__ float operator()(float v) const { return v * normal_cdf(v); }
};
struct GELUSlope {
    __device__ float operator()(float v) const {
        return normal_cdf(v) + v * normal_density(v);
    }
};

struct ReLUBackward {
    __device__ float operator()(float g, float y) const { return y <= 0.0f ? 0.0f : g; }
};
struct Axpy {
    float alpha;
    __device__ float operator()(float y, float x) const { return y + alpha * x; }
};
struct Scale {
    float alpha;
    __device__ float operator()(float v) const { return v * alpha; }
};

}  // namespace

void binary(BinaryOp op, float* out, const float* a, const float* b,
            std::span<const int64_t> shape, std::span<const int64_t> a_strides,
            std::span<const int64_t> b_strides, cudaStream_t stream) {
    const cpu::StridedLoop<2> loop(shape, {a_strides, b_strides});
    switch (op) {
        case BinaryOp::kAdd: return binary_with(Add(), out, a, b, loop, stream);
        case BinaryOp::kSub: return binary_with(Sub(), out, a, b, loop, stream);
        case BinaryOp::kMul: return binary_with(Mul(), out, a, b, loop, stream);
        case BinaryOp::kDiv: return binary_with(Div(), out, a, b, loop, stream);
    }
}

void unary(UnaryOp op, float* out, const float* x, int64_t n, cudaStream_t stream) {
    switch (op) {
        case UnaryOp::kNeg: return map(Neg(), out, n, stream, x);
        case UnaryOp::kExp: return map(Exp(), out, n, stream, x);
        case UnaryOp::kLog: return map(Log(), out, n, stream, x);
        case UnaryOp::kSqrt: return map(Sqrt(), out, n, stream, x);
        case UnaryOp::kReLU: return map(ReLU(), out, n, stream, x);
        case UnaryOp::kSigmoid: return map(Sigmoid(), out, n, stream, x);
        case UnaryOp::kTanh: return map(Tanh(), out, n, stream, x);
        case UnaryOp::kGELU: return map(GELU(), out, n, stream, x);
        case UnaryOp::kGELUSlope: return map(GELUSlope(), out, n, stream, x);
    }
}

void relu_backward(float* out, const float* g, const float* y, int64_t n,
                   cudaStream_t stream) {
    map(ReLUBackward(), out, n, stream, g, y);
}

void axpy(float* y, const float* x, float alpha, int64_t n, cudaStream_t stream) {
    map(Axpy{alpha}, y, n, stream, y, x);
}

void scale(float* x, float alpha, int64_t n, cudaStream_t stream) {
    map(Scale{alpha}, x, n, stream, x);
}

void fill(float* out, float value, int64_t n, cudaStream_t stream) {
    fill_elements(out, value, n, DType::kFloat32, stream);
}

}  // namespace mini::kernels::cuda
