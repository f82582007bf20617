// Adam, element by element, in one pass over memory, with the rounding of PyTorch's passes.

#include "libmini/kernels/adam.hpp"

#include <cmath>
#include <cstdint>

#include "libmini/core/parallel.hpp"
#include "libmini/kernels/cpu/strided.hpp"
#include "libmini/kernels/kernels.hpp"

namespace mini::kernels::cpu {
namespace {

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

void adam_step(float* parameter, float* exp_avg, float* exp_avg_sq, const float* grad,
               int64_t n, AdamStep step) {
    const AdamConstants numbers(step);
    parallel_for(n, kElementGrain, [&](int64_t begin, int64_t end) {
        adam_range(parameter + begin, exp_avg + begin, exp_avg_sq + begin, grad + begin,
                   end - begin, numbers);
    });
}

}  // namespace mini::kernels::cpu
