// Elementwise kernels: one formula for all elements.
//
// Contiguous arrays use each(): 16 bytes per access, every array once. An array that is
// broadcast has a stride of 0, and its offsets are computed by OffsetCalculator:
//
//     shape (128, 50)    a (50, 1)    b (0, 1)
//     thread i           a[i]         b[i % 50]      b is cached: traffic of 8 bytes
//
// If the length of a row is a multiple of four, a thread takes four adjacent elements of
// a row, also with broadcast.

#include "libmini/kernels/cuda/each.hpp"

#include <array>
#include <cstddef>
#include <span>

#include "libmini/kernels/cuda/kernels.hpp"
#include "libmini/kernels/cuda/strides.hpp"

namespace mini::kernels::cuda {
namespace {

using mini::cuda::launch;

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

// Loads kWidth adjacent elements, or for step 0 the same element kWidth times.
template <int kWidth>
__device__ Pack<float, kWidth> take(const float* from, int64_t step) {
    if (step != 0) return load<kWidth>(from);
    Pack<float, kWidth> values;
    for (int k = 0; k < kWidth; ++k) values.at[k] = *from;
    return values;
}

// out[i] = a[i] op b[i]; an operand with step 0 is one number.
template <typename Op>
struct Binary {
    static constexpr int kWidth = 4;
    Op op;
    float* out;
    const float *a, *b;
    int64_t a_step, b_step;

    template <int kWidth>
    __device__ void run(int64_t i) const {
        const auto left = take<kWidth>(a + i * a_step, a_step);
        const auto right = take<kWidth>(b + i * b_step, b_step);
        Pack<float, kWidth> result;
        for (int k = 0; k < kWidth; ++k) result.at[k] = op(left.at[k], right.at[k]);
        store(out + i, result);
    }
};

// REQUIRES: if kWidth is not 1, the innermost strides are 0 or 1.
template <int kWidth, typename Op, typename Index>
__global__ void binary_kernel(Op op,
                              float* out,      // (packs, kWidth)
                              const float* a,  // at offsets[0]
                              const float* b,  // at offsets[1]
                              OffsetCalculator<2, Index> offset_calc, int64_t packs) {
    for (int64_t i = thread_number(); i < packs; i += thread_count()) {
        int64_t offsets[2];
        offset_calc.find(static_cast<Index>(i * kWidth), offsets);
        const auto left =
            take<kWidth>(a + offsets[0], kWidth == 1 ? 1 : offset_calc.strides[0][0]);
        const auto right =
            take<kWidth>(b + offsets[1], kWidth == 1 ? 1 : offset_calc.strides[0][1]);
        Pack<float, kWidth> result;
        for (int k = 0; k < kWidth; ++k) result.at[k] = op(left.at[k], right.at[k]);
        store(out + i * kWidth, result);
    }
}

// Returns whether rows can be processed four elements at a time: the steps within a row
// are 0 or 1, and every row begins at a multiple of four.
bool rows_of_four(const cpu::StridedLoop<2>& loop) {
    bool result = loop.dimensions()[0].extent % 4 == 0;
    for (size_t d = 0; d < loop.dimensions().size(); ++d)
        for (const int64_t stride : loop.dimensions()[d].strides)
            result = result && (d == 0 ? stride == 0 || stride == 1 : stride % 4 == 0);
    return result;
}

template <typename Index, typename Op>
void broadcast(Op op, float* out, const float* a, const float* b,
               const cpu::StridedLoop<2>& loop, cudaStream_t stream) {
    const size_t dims = std::min(kMaxDims, loop.dimensions().size());
    const auto offset_calc = offset_calculator<Index>(loop, dims);
    const auto& steps = loop.steps();
    for_each_part(loop, [&](int64_t n, int64_t first, const auto& offsets) {
        float* to = out + first;
        const float *left = a + offsets[0], *right = b + offsets[1];
        const bool wide = rows_of_four(loop) && aligned<4>(to) &&
                          (steps[0] == 0 || aligned<4>(left)) &&
                          (steps[1] == 0 || aligned<4>(right));
        if (wide)
            launch(binary_kernel<4, Op, Index>, grid_for(n / 4), stream, op, to, left,
                   right, offset_calc, n / 4);
        else
            launch(binary_kernel<1, Op, Index>, grid_for(n), stream, op, to, left, right,
                   offset_calc, n);
    });
}

template <typename Op>
void binary_with(Op op, float* out, const float* a, const float* b,
                 const cpu::StridedLoop<2>& loop, cudaStream_t stream) {
    int64_t n = 1;
    for (const auto& dimension : loop.dimensions()) n *= dimension.extent;
    if (n == 0) return;
    const auto [a_step, b_step] = loop.steps();
    const bool one_loop = loop.dimensions().size() == 1 && (a_step == 0 || a_step == 1) &&
                          (b_step == 0 || b_step == 1);
    if (one_loop) {
        const bool wide = aligned<4>(out) && (a_step == 0 || aligned<4>(a)) &&
                          (b_step == 0 || aligned<4>(b));
        each(Binary<Op>{op, out, a, b, a_step, b_step}, n, wide, stream);
    } else if (is_small(n)) {
        broadcast<uint32_t>(op, out, a, b, loop, stream);
    } else {
        broadcast<uint64_t>(op, out, a, b, loop, stream);
    }
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

template <typename Op>
struct Unary {
    static constexpr int kWidth = 4;
    float* out;
    const float* x;
    Op op;

    template <int kWidth>
    __device__ void run(int64_t i) const {
        auto values = load<kWidth>(x + i);
        for (int k = 0; k < kWidth; ++k) values.at[k] = op(values.at[k]);
        store(out + i, values);
    }
};

template <typename Op>
void unary_with(Op op, float* out, const float* x, int64_t n, cudaStream_t stream) {
    each(Unary<Op>{out, x, op}, n, aligned<4>(out, x), stream);
}

struct ReLUBackward {
    static constexpr int kWidth = 4;
    float* out;
    const float *g, *y;

    template <int kWidth>
    __device__ void run(int64_t i) const {
        auto values = load<kWidth>(g + i);
        const auto results = load<kWidth>(y + i);
        for (int k = 0; k < kWidth; ++k)
            values.at[k] = results.at[k] <= 0.0f ? 0.0f : values.at[k];
        store(out + i, values);
    }
};

struct Axpy {
    static constexpr int kWidth = 4;
    float* y;
    const float* x;
    float alpha;

    template <int kWidth>
    __device__ void run(int64_t i) const {
        auto sums = load<kWidth>(y + i);
        const auto values = load<kWidth>(x + i);
        for (int k = 0; k < kWidth; ++k) sums.at[k] += alpha * values.at[k];
        store(y + i, sums);
    }
};

struct Scale {
    float alpha;
    __device__ float operator()(float v) const { return v * alpha; }
};

struct Fill {
    static constexpr int kWidth = 4;
    float* out;
    float value;

    template <int kWidth>
    __device__ void run(int64_t i) const {
        Pack<float, kWidth> values;
        for (int k = 0; k < kWidth; ++k) values.at[k] = value;
        store(out + i, values);
    }
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
        case UnaryOp::kNeg: return unary_with(Neg(), out, x, n, stream);
        case UnaryOp::kExp: return unary_with(Exp(), out, x, n, stream);
        case UnaryOp::kLog: return unary_with(Log(), out, x, n, stream);
        case UnaryOp::kSqrt: return unary_with(Sqrt(), out, x, n, stream);
        case UnaryOp::kReLU: return unary_with(ReLU(), out, x, n, stream);
        case UnaryOp::kSigmoid: return unary_with(Sigmoid(), out, x, n, stream);
        case UnaryOp::kTanh: return unary_with(Tanh(), out, x, n, stream);
    }
}

void relu_backward(float* out, const float* g, const float* y, int64_t n,
                   cudaStream_t stream) {
    each(ReLUBackward{out, g, y}, n, aligned<4>(out, g, y), stream);
}

void axpy(float* y, const float* x, float alpha, int64_t n, cudaStream_t stream) {
    each(Axpy{y, x, alpha}, n, aligned<4>(y, x), stream);
}

void scale(float* x, float alpha, int64_t n, cudaStream_t stream) {
    unary_with(Scale{alpha}, x, x, n, stream);
}

void fill(float* out, float value, int64_t n, cudaStream_t stream) {
    each(Fill{out, value}, n, aligned<4>(out), stream);
}

void add_bias_rows(float* y, const float* bias, int64_t rows, int64_t cols,
                   cudaStream_t stream) {
    binary(BinaryOp::kAdd, y, y, bias, std::array{rows, cols},
           std::array{cols, int64_t{1}}, std::array{int64_t{0}, int64_t{1}}, stream);
}

}  // namespace mini::kernels::cuda
