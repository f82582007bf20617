// Stochastic gradient descent and Adam, element by element, over one tensor or many.
//
// A network has dozens of small parameters, and a launch takes longer than the arithmetic
// on a small parameter. So one launch processes up to kMaxTensors parameters. Their
// pointers are passed to the kernel by value, and each block takes a piece of kPiece
// elements:
//
//     tensor         0 (10000)       1 (50)   2 (5000)
//     block          0   1   2       3        4   5
//
// Traffic: parameter, gradient and optimizer state are each read once; parameter and
// state are written once.

#include <array>
#include <cstdint>
#include <span>

#include "libmini/kernels/adam.hpp"
#include "libmini/kernels/cuda/each.hpp"
#include "libmini/kernels/cuda/kernels.hpp"

namespace mini::kernels::cuda {
namespace {

using mini::cuda::ceil_div;
using mini::cuda::launch;

constexpr int kMaxTensors = 60;   // keeps a launch's parameters below 4 KiB
constexpr int64_t kPiece = 4096;  // elements per block

struct SGDRule {
    using Tensor = SGDTensor;
    SGDStep step;

    static bool is_aligned(const Tensor& t) {
        return aligned<4>(t.parameter, t.velocity, t.grad);
    }

    template <int kWidth>
    __device__ void run(const Tensor& t, int64_t i) const {
        auto p = load<kWidth>(t.parameter + i);
        const auto grads = load<kWidth>(t.grad + i);
        const bool has_velocity = step.momentum != 0.0f;
        Pack<float, kWidth> velocity{};
        if (has_velocity && !step.first) velocity = load<kWidth>(t.velocity + i);
        for (int k = 0; k < kWidth; ++k) {
            const float g = grads.at[k] + step.weight_decay * p.at[k];
            float v = g;
            if (!step.first)
                v = velocity.at[k] * step.momentum + (1.0f - step.dampening) * g;
            velocity.at[k] = v;
            const float along = step.nesterov ? g + step.momentum * v : v;
            p.at[k] += -step.lr * (has_velocity ? along : g);
        }
        store(t.parameter + i, p);
        if (has_velocity) store(t.velocity + i, velocity);
    }
};

struct AdamRule : AdamConstants {
    using Tensor = AdamTensor;
    using AdamConstants::AdamConstants;

    static bool is_aligned(const Tensor& t) {
        return aligned<4>(t.parameter, t.exp_avg, t.exp_avg_sq, t.max_exp_avg_sq, t.grad);
    }

    template <int kWidth>
    __device__ void run(const Tensor& t, int64_t i) const {
        auto p = load<kWidth>(t.parameter + i);
        auto m = load<kWidth>(t.exp_avg + i), v = load<kWidth>(t.exp_avg_sq + i);
        const auto grads = load<kWidth>(t.grad + i);
        const bool amsgrad = t.max_exp_avg_sq != nullptr;
        Pack<float, kWidth> max_v{};
        if (amsgrad) max_v = load<kWidth>(t.max_exp_avg_sq + i);
        for (int k = 0; k < kWidth; ++k) {
            p.at[k] *= decay;
            const float g = sign * grads.at[k] + weight_decay * p.at[k];

            // Interpolate from the nearer end (`torch.lerp`).
            const float difference = g - m.at[k];
            m.at[k] = lerp_from_average ? m.at[k] + one_minus_beta1 * difference
                                        : g - difference * beta1;
            v.at[k] = v.at[k] * beta2 + one_minus_beta2 * g * g;
            const bool keeps_old_max = amsgrad && v.at[k] <= max_v.at[k];
            if (!keeps_old_max) max_v.at[k] = v.at[k];  // NaN stays NaN
            p.at[k] += -step_size * m.at[k] / (sqrtf(max_v.at[k]) / correction + eps);
        }
        store(t.parameter + i, p);
        store(t.exp_avg + i, m);
        store(t.exp_avg_sq + i, v);
        if (amsgrad) store(t.max_exp_avg_sq + i, max_v);
    }
};

// The tensors of one launch.
template <typename Tensor>
struct TensorList {
    int count = 0;
    bool wide = true;
    int64_t blocks = 0;
    int64_t first_block[kMaxTensors] = {};
    Tensor tensors[kMaxTensors] = {};
};

// Launch with one block per piece of a tensor.
template <typename Rule>
__global__ void step_kernel(Rule rule, TensorList<typename Rule::Tensor> list) {
    int index = list.count - 1;
    while (list.first_block[index] > blockIdx.x) --index;
    const typename Rule::Tensor tensor = list.tensors[index];

    const int64_t begin = (blockIdx.x - list.first_block[index]) * kPiece;
    const int64_t end = min(begin + kPiece, tensor.n);
    int64_t i = begin + threadIdx.x;
    if (list.wide) {
        i = begin + 4 * threadIdx.x;
        for (; i + 4 <= end; i += 4 * kThreads) rule.template run<4>(tensor, i);
        i = end - (end - begin) % 4 + threadIdx.x;
    }
    for (; i < end; i += kThreads) rule.template run<1>(tensor, i);
}

template <typename Rule>
void take_steps(const Rule& rule, std::span<const typename Rule::Tensor> tensors,
                cudaStream_t stream) {
    TensorList<typename Rule::Tensor> list;
    const auto start = [&] {
        if (list.blocks > 0)
            launch(step_kernel<Rule>,
                   {.grid = mini::cuda::blocks(list.blocks, 1), .block = kThreads},
                   stream, rule, list);
        list = {};
    };
    for (const auto& tensor : tensors) {
        if (tensor.n == 0) continue;
        if (list.count == kMaxTensors) start();
        list.wide = list.wide && Rule::is_aligned(tensor);
        list.first_block[list.count] = list.blocks;
        list.tensors[list.count++] = tensor;
        list.blocks += ceil_div(tensor.n, kPiece);
    }
    start();
}

}  // namespace

void sgd_step(float* parameter, float* velocity, const float* grad, int64_t n,
              SGDStep step, cudaStream_t stream) {
    sgd_steps(std::array{SGDTensor{parameter, velocity, grad, n}}, step, stream);
}

void sgd_steps(std::span<const SGDTensor> tensors, SGDStep step, cudaStream_t stream) {
    take_steps(SGDRule{step}, tensors, stream);
}

void adam_step(float* parameter, float* exp_avg, float* exp_avg_sq, float* max_exp_avg_sq,
               const float* grad, int64_t n, AdamStep step, cudaStream_t stream) {
    adam_steps(
        std::array{AdamTensor{parameter, exp_avg, exp_avg_sq, max_exp_avg_sq, grad, n}},
        step, stream);
}

void adam_steps(std::span<const AdamTensor> tensors, AdamStep step, cudaStream_t stream) {
    take_steps(AdamRule(step), tensors, stream);
}

}  // namespace mini::kernels::cuda
