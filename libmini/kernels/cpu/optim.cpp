// Stochastic gradient descent and Adam, element by element.
//
// One pass over memory: parameter, gradient and what is remembered of a parameter are
// each read once, all but the gradient written once. Each element is rounded in the order
// of PyTorch's separate passes, so the numbers agree.

#include <cmath>
#include <cstdint>

#include "libmini/core/parallel.hpp"
#include "libmini/kernels/adam.hpp"
#include "libmini/kernels/cpu/strided.hpp"
#include "libmini/kernels/kernels.hpp"

namespace mini::kernels::cpu {
namespace {

// A step without momentum: p -= lr * (g + weight_decay * p).
void plain_step(float* parameter, const float* grad, int64_t n, const SGDStep& step) {
    for (int64_t i = 0; i < n; ++i) {
        const float g = grad[i] + step.weight_decay * parameter[i];
        parameter[i] += -step.lr * g;
    }
}

void momentum_step(float* parameter, float* velocity, const float* grad, int64_t n,
                   const SGDStep& step) {
    const float keep = step.first ? 0.0f : step.momentum;
    const float take = step.first ? 1.0f : 1.0f - step.dampening;
    for (int64_t i = 0; i < n; ++i) {
        const float g = grad[i] + step.weight_decay * parameter[i];
        const float v = (step.first ? 0.0f : velocity[i] * keep) + take * g;
        const float direction = step.nesterov ? g + step.momentum * v : v;
        velocity[i] = v;
        parameter[i] += -step.lr * direction;
    }
}

// One range of adam_step. `greatest` may be null, the others do not overlap.
void adam_range(float* __restrict parameter, float* __restrict exp_avg,
                float* __restrict exp_avg_sq, float* __restrict greatest,
                const float* __restrict grad, int64_t n, const AdamNumbers& numbers) {
    const AdamNumbers a = numbers;  // a copy, which no store in the loop can change
    for (int64_t i = 0; i < n; ++i) {
        const float p = parameter[i] * a.shrink;
        const float g = a.sign * grad[i] + a.weight_decay * p;

        // Move the average from the nearer end (`torch.lerp`).
        const float way = g - exp_avg[i];
        const float m = a.near ? exp_avg[i] + a.take1 * way : g - way * a.beta1;
        const float v = exp_avg_sq[i] * a.beta2 + a.take2 * g * g;
        exp_avg[i] = m;
        exp_avg_sq[i] = v;

        float scale = v;
        if (greatest != nullptr) {
            scale = v <= greatest[i] ? greatest[i] : v;  // a NaN stays
            greatest[i] = scale;
        }
        parameter[i] = p + -a.step_size * m / (std::sqrt(scale) / a.correction + a.eps);
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

void adam_step(float* parameter, float* exp_avg, float* exp_avg_sq, float* max_exp_avg_sq,
               const float* grad, int64_t n, AdamStep step) {
    const AdamNumbers numbers(step);
    parallel_for(n, kElementGrain, [&](int64_t begin, int64_t end) {
        float* const greatest =
            max_exp_avg_sq != nullptr ? max_exp_avg_sq + begin : nullptr;
        adam_range(parameter + begin, exp_avg + begin, exp_avg_sq + begin, greatest,
                   grad + begin, end - begin, numbers);
    });
}

}  // namespace mini::kernels::cpu
