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

    __device__ void run(const Tensor& t, int64_t i) const {
        const float p = t.parameter[i], g = t.grad[i] + step.weight_decay * p;
        float direction = g;
        if (step.momentum != 0.0f) {
            float v = g;
            if (!step.first)
                v = t.velocity[i] * step.momentum + (1.0f - step.dampening) * g;
            t.velocity[i] = v;
            direction = step.nesterov ? g + step.momentum * v : v;
        }
        t.parameter[i] = p + -step.lr * direction;
    }
};

struct AdamRule : AdamConstants {
    using Tensor = AdamTensor;
    using AdamConstants::AdamConstants;

    __device__ void run(const Tensor& t, int64_t i) const {
        const float p = t.parameter[i] * decay;
        const float g = sign * t.grad[i] + weight_decay * p;

        // Interpolate from the nearer end (`torch.lerp`).
        const float average = t.exp_avg[i], difference = g - average;
        const float m = lerp_from_average ? average + one_minus_beta1 * difference
                                          : g - difference * beta1;
        const float v = t.exp_avg_sq[i] * beta2 + one_minus_beta2 * g * g;
        t.exp_avg[i] = m;
        t.exp_avg_sq[i] = v;

        float scale = v;
        if (t.max_exp_avg_sq != nullptr) {
            scale = v <= t.max_exp_avg_sq[i] ? t.max_exp_avg_sq[i] : v;  // NaN stays NaN
            t.max_exp_avg_sq[i] = scale;
        }
        t.parameter[i] = p + -step_size * m / (sqrtf(scale) / correction + eps);
    }
};

// The tensors of one launch.
template <typename Tensor>
struct TensorList {
    int count = 0;
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
    for (int64_t i = begin + threadIdx.x; i < end; i += kThreads) rule.run(tensor, i);
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
