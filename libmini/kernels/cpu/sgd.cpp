// Stochastic gradient descent, element by element: one pass over memory. The operations
// on an element have the order of PyTorch's separate passes, so they round in the same way.

#include <cstdint>

#include "libmini/core/error.hpp"
#include "libmini/core/parallel.hpp"
#include "libmini/kernels/cpu/strided.hpp"
#include "libmini/kernels/kernels.hpp"

// [lab04 file]
namespace mini::kernels::cpu {
namespace {

// A step without momentum: p -= lr * (g + weight_decay * p).
void plain_step(float* parameter, const float* grad, int64_t n, const SGDStep& step) {
    // [lab04.4] Update each element.
    for (int64_t i = 0; i < n; ++i) {
        const float g = grad[i] + step.weight_decay * parameter[i];
        parameter[i] += -step.lr * g;
    }
    // [lab04.4]
}

void momentum_step(float* parameter, float* velocity, const float* grad, int64_t n,
                   const SGDStep& step) {
    const float keep = step.first ? 0.0f : step.momentum;
    const float take = step.first ? 1.0f : 1.0f - step.dampening;
    // [lab04.4] Update each element of the velocity and of the parameter.
    for (int64_t i = 0; i < n; ++i) {
        const float g = grad[i] + step.weight_decay * parameter[i];
        const float v = (step.first ? 0.0f : velocity[i] * keep) + take * g;
        const float direction = step.nesterov ? g + step.momentum * v : v;
        velocity[i] = v;
        parameter[i] += -step.lr * direction;
    }
    // [lab04.4]
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

}  // namespace mini::kernels::cpu
// [lab04 file]
