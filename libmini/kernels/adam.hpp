// What a step of Adam computes once for all elements, on a CPU and on a GPU alike.

#pragma once

#include <cmath>

#include "libmini/kernels/kernels.hpp"

namespace mini::kernels {

/// The numbers of an Adam step that all elements share, as floats.
struct AdamNumbers {
    explicit AdamNumbers(const AdamStep& step)
        : sign(step.maximize ? -1.0f : 1.0f),
          shrink(step.decoupled ? static_cast<float>(1 - step.lr * step.weight_decay)
                                : 1.0f),
          weight_decay(step.decoupled ? 0.0f : static_cast<float>(step.weight_decay)),
          near(static_cast<float>(1 - step.beta1) < 0.5f),
          beta1(1 - static_cast<float>(1 - step.beta1)),
          take1(static_cast<float>(1 - step.beta1)),
          beta2(static_cast<float>(step.beta2)),
          take2(static_cast<float>(1 - step.beta2)),
          eps(static_cast<float>(step.eps)) {
        const auto t = static_cast<double>(step.step);
        step_size = static_cast<float>(step.lr / (1 - std::pow(step.beta1, t)));
        correction = static_cast<float>(std::sqrt(1 - std::pow(step.beta2, t)));
    }

    float sign, shrink, weight_decay;
    bool near;  ///< whether the average moves less than half of the way to the gradient
    float beta1, take1, beta2, take2, eps;
    float step_size = 0;   ///< lr / (1 - beta1^step)
    float correction = 0;  ///< sqrt(1 - beta2^step)
};

}  // namespace mini::kernels
