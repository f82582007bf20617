// Stochastic gradient descent and Adam, element by element, over one tensor or many.
//
// A network has dozens of small parameters, and a launch takes longer than their
// arithmetic. So one launch takes up to kMostTensors of them, whose pointers travel to the
// kernel by value; its blocks are shared out in pieces of kPiece elements:
//
//     tensor         0 (10000)       1 (50)   2 (5000)
//     block          0   1   2       3        4   5
//
// Traffic: parameter, gradient and what is remembered are each read once, all but the
// gradient written once.

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

constexpr int kMostTensors = 60;  // with the rest, below a launch's 4 KiB
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
        const bool remembers = step.momentum != 0.0f;
        Pack<float, kWidth> velocity{};
        if (remembers && !step.first) velocity = load<kWidth>(t.velocity + i);
        for (int k = 0; k < kWidth; ++k) {
            const float g = grads.at[k] + step.weight_decay * p.at[k];
            float v = g;
            if (!step.first)
                v = velocity.at[k] * step.momentum + (1.0f - step.dampening) * g;
            velocity.at[k] = v;
            const float along = step.nesterov ? g + step.momentum * v : v;
            p.at[k] += -step.lr * (remembers ? along : g);
        }
        store(t.parameter + i, p);
        if (remembers) store(t.velocity + i, velocity);
    }
};

struct AdamRule : AdamNumbers {
    using Tensor = AdamTensor;
    using AdamNumbers::AdamNumbers;

    static bool is_aligned(const Tensor& t) {
        return aligned<4>(t.parameter, t.exp_avg, t.exp_avg_sq, t.max_exp_avg_sq, t.grad);
    }

    template <int kWidth>
    __device__ void run(const Tensor& t, int64_t i) const {
        auto p = load<kWidth>(t.parameter + i);
        auto m = load<kWidth>(t.exp_avg + i), v = load<kWidth>(t.exp_avg_sq + i);
        const auto grads = load<kWidth>(t.grad + i);
        const bool keeps_greatest = t.max_exp_avg_sq != nullptr;
        Pack<float, kWidth> greatest{};
        if (keeps_greatest) greatest = load<kWidth>(t.max_exp_avg_sq + i);
        for (int k = 0; k < kWidth; ++k) {
            p.at[k] *= shrink;
            const float g = sign * grads.at[k] + weight_decay * p.at[k];

            // Move the average from the nearer end (`torch.lerp`).
            const float way = g - m.at[k];
            m.at[k] = near ? m.at[k] + take1 * way : g - way * beta1;
            v.at[k] = v.at[k] * beta2 + take2 * g * g;
            const bool old_is_greater = keeps_greatest && v.at[k] <= greatest.at[k];
            if (!old_is_greater) greatest.at[k] = v.at[k];  // a NaN stays
            p.at[k] += -step_size * m.at[k] / (sqrtf(greatest.at[k]) / correction + eps);
        }
        store(t.parameter + i, p);
        store(t.exp_avg + i, m);
        store(t.exp_avg_sq + i, v);
        if (keeps_greatest) store(t.max_exp_avg_sq + i, greatest);
    }
};

// What one launch takes.
template <typename Tensor>
struct TensorList {
    int count = 0;
    bool wide = true;
    int64_t blocks = 0;
    int64_t first_block[kMostTensors] = {};
    Tensor tensors[kMostTensors] = {};
};

// One block a piece of a tensor.
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
        if (list.count == kMostTensors) start();
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
