// Numerical gradients: the oracle for every differentiable function.

#pragma once

#include <functional>
#include <string>
#include <vector>

#include "libmini/tensor/tensor.hpp"

namespace mini {

struct GradCheckOptions {
    double step = 1e-2;       // h in (f(x + h) - f(x - h)) / 2h
    double tolerance = 5e-3;  // on |analytic - numeric| / max(1, |numeric|)
};

/// Whether the gradients agree.
struct GradCheckResult {
    bool ok = true;
    std::string message;  // which element of which input is wrong, and both values
};

/// Compares the gradient that backward() leaves at each input with central differences of
/// `function` (`torch.autograd.gradcheck`). The scalar that is differentiated is a fixed
/// random weighting of the result's elements, so that no element's error can hide behind
/// another's.
///
/// In float32, h must be large against rounding: f carries an error of about 1e-7 |f|,
/// which the division by 2h = 2e-2 makes 1e-5 |f|; the h² term of a smooth function is
/// about 1e-4 of its third derivative. Both stay below the tolerance for values of order
/// one. Inputs must keep away from kinks (relu at 0, ties in max_pool2d) by more than h.
GradCheckResult grad_check(
    const std::function<Tensor(const std::vector<Tensor>&)>& function,
    const std::vector<Tensor>& inputs, GradCheckOptions options = {});

}  // namespace mini
