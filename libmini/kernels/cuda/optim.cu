// Stochastic gradient descent and Adam: a thread updates one element at a time.
//
// Traffic: parameter, gradient and optimizer state are each read once; parameter and
// state are written once.

#include <cstdint>

#include "libmini/kernels/adam.hpp"
#include "libmini/kernels/cuda/each.hpp"
#include "libmini/kernels/cuda/kernels.hpp"

namespace mini::kernels::cuda {
namespace {

struct UpdateBySGD {
    float* parameter;   // (n)
    float* velocity;    // (n), or null
    const float* grad;  // (n)
    SGDStep step;

    __device__ void operator()(int64_t i) const {
        const float p = parameter[i], g = grad[i] + step.weight_decay * p;
        float direction = g;
        if (step.momentum != 0.0f) {
            float v = g;
            if (!step.first)
                v = velocity[i] * step.momentum + (1.0f - step.dampening) * g;
            velocity[i] = v;
            direction = step.nesterov ? g + step.momentum * v : v;
        }
        parameter[i] = p + -step.lr * direction;
    }
};

struct UpdateByAdam {
    float* parameter;   // (n)
    float* exp_avg;     // (n)
    float* exp_avg_sq;  // (n)
    const float* grad;  // (n)
    AdamConstants c;

    __device__ void operator()(int64_t i) const {
        const float p = parameter[i] * c.decay;
        const float g = grad[i] + c.weight_decay * p;

        // Interpolate from the nearer end (`torch.lerp`).
        const float average = exp_avg[i], difference = g - average;
        const float m = c.lerp_from_average ? average + c.one_minus_beta1 * difference
                                            : g - difference * c.beta1;
        const float v = exp_avg_sq[i] * c.beta2 + c.one_minus_beta2 * g * g;
        exp_avg[i] = m;
        exp_avg_sq[i] = v;
        parameter[i] = p + -c.step_size * m / (sqrtf(v) / c.correction + c.eps);
    }
};

}  // namespace

void sgd_step(float* parameter, float* velocity, const float* grad, int64_t n,
              SGDStep step, cudaStream_t stream) {
    each(UpdateBySGD{parameter, velocity, grad, step}, n, stream);
}

void adam_step(float* parameter, float* exp_avg, float* exp_avg_sq, const float* grad,
               int64_t n, AdamStep step, cudaStream_t stream) {
    each(UpdateByAdam{parameter, exp_avg, exp_avg_sq, grad, AdamConstants(step)}, n,
         stream);
}

}  // namespace mini::kernels::cuda
