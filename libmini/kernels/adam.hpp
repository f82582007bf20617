// The constants of an Adam step, computed once per step, for the CPU and the GPU kernel.

#pragma once

#include <cmath>

#include "libmini/kernels/kernels.hpp"

namespace mini::kernels {

/// The constants of one Adam step, the same for all elements, as floats.
struct AdamConstants {
    explicit AdamConstants(const AdamStep& step)
        : decay(step.decoupled ? static_cast<float>(1 - step.lr * step.weight_decay)
                               : 1.0f),
          weight_decay(step.decoupled ? 0.0f : static_cast<float>(step.weight_decay)),
          lerp_from_average(static_cast<float>(1 - step.beta1) < 0.5f),
          beta1(1 - static_cast<float>(1 - step.beta1)),
          one_minus_beta1(static_cast<float>(1 - step.beta1)),
          beta2(static_cast<float>(step.beta2)),
          one_minus_beta2(static_cast<float>(1 - step.beta2)),
          eps(static_cast<float>(step.eps)) {
        const auto t = static_cast<double>(step.step);
        step_size = static_cast<float>(step.lr / (1 - std::pow(step.beta1, t)));
        correction = static_cast<float>(std::sqrt(1 - std::pow(step.beta2, t)));
    }

    float decay, weight_decay;
    bool lerp_from_average;  ///< 1 - beta1 < 0.5, the two cases of `torch.lerp`
    float beta1, one_minus_beta1, beta2, one_minus_beta2, eps;
    float step_size = 0;   ///< lr / (1 - beta1^step)
    float correction = 0;  ///< sqrt(1 - beta2^step)
};

}  // namespace mini::kernels
