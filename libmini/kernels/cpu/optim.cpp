// Stochastic gradient descent and Adam, element by element.
//
// One pass over memory: parameter, gradient and optimizer state are each read once, and
// parameter and state are written once. The operations on an element have the order of
// PyTorch's separate passes, so they round in the same way.

#include <cmath>
#include <cstdint>

#include "libmini/core/error.hpp"
#include "libmini/core/parallel.hpp"
#include "libmini/kernels/adam.hpp"
#include "libmini/kernels/cpu/strided.hpp"
#include "libmini/kernels/kernels.hpp"

namespace mini::kernels::cpu {
namespace {

// A step without momentum: p -= lr * (g + weight_decay * p).
void plain_step(float* parameter, const float* grad, int64_t n, const SGDStep& step) {
    // [lab04.5] Update each element.
    for (int64_t i = 0; i < n; ++i) {
        const float g = grad[i] + step.weight_decay * parameter[i];
        parameter[i] += -step.lr * g;
    }
    // [lab04.5]
}

void momentum_step(float* parameter, float* velocity, const float* grad, int64_t n,
                   const SGDStep& step) {
    const float keep = step.first ? 0.0f : step.momentum;
    const float take = step.first ? 1.0f : 1.0f - step.dampening;
    // [lab04.5] Update each element of the velocity and of the parameter.
    for (int64_t i = 0; i < n; ++i) {
        const float g = grad[i] + step.weight_decay * parameter[i];
        const float v = (step.first ? 0.0f : velocity[i] * keep) + take * g;
        const float direction = step.nesterov ? g + step.momentum * v : v;
        velocity[i] = v;
        parameter[i] += -step.lr * direction;
    }
    // [lab04.5]
}

// adam_step for one range. The arrays do not overlap.
void adam_range(float* __restrict parameter, float* __restrict exp_avg,
                float* __restrict exp_avg_sq, const float* __restrict grad, int64_t n,
                const AdamConstants& numbers) {
    const AdamConstants a = numbers;  // a copy, which stores in the loop cannot change
    for (int64_t i = 0; i < n; ++i) {
        const float p = parameter[i] * a.decay;
        const float g = grad[i] + a.weight_decay * p;

        // Interpolate from the nearer end (`torch.lerp`).
        const float difference = g - exp_avg[i];
        const float m = a.lerp_from_average ? exp_avg[i] + a.one_minus_beta1 * difference
                                            : g - difference * a.beta1;
        const float v = exp_avg_sq[i] * a.beta2 + a.one_minus_beta2 * g * g;
        exp_avg[i] = m;
        exp_avg_sq[i] = v;
        parameter[i] = p + -a.step_size * m / (std::sqrt(v) / a.correction + a.eps);
    }
}

}  // namespace

void sgd_step(float* parameter, float* velocity, const float* grad, int64_t n,
              SGDStep step) {
    parallel_for(n, kElementGrain, [&](int64_t begin, int64_t end) {
        if (step.momentum == 0.0f)
            plain_step(parameter + begin, grad + begin, end - begin, step);
        else
            momentum_step(parameter + begin, velocity + begin, grad + begin, end - begin,
                          step);
    });
}

void adam_step(float* parameter, float* exp_avg, float* exp_avg_sq, const float* grad,
               int64_t n, AdamStep step) {
    const AdamConstants numbers(step);
    parallel_for(n, kElementGrain, [&](int64_t begin, int64_t end) {
        adam_range(parameter + begin, exp_avg + begin, exp_avg_sq + begin, grad + begin,
                   end - begin, numbers);
    });
}

}  // namespace mini::kernels::cpu
