// Compares the gradients of a differentiable function with numerical gradients.

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

/// The result of grad_check.
struct GradCheckResult {
    bool ok = true;       // whether the gradients agree
    std::string message;  // if not ok: the input, the element, and both gradients

    /// The largest |analytic - numeric| / max(1, |numeric|) of the compared elements. If
    /// not ok, that of the element in the message, after which no element is compared;
    /// infinity if an input got no gradient.
    double largest_error = 0.0;
};

/// Compares the gradient that backward() computes for each input with central differences
/// of `function` (`torch.autograd.gradcheck`). The differentiated scalar is the sum of
/// the result's elements with fixed random weights, so that errors of two elements do not
/// cancel.
///
/// In float32, h must be large compared to the rounding error: f has an error of about
/// 1e-7 |f|, which the division by 2h = 2e-2 increases to about 1e-5 |f|. The central
/// difference itself has an error of h² / 6, about 2e-5, times the third derivative of f.
/// Both errors are below the tolerance for values of order one. REQUIRES: inputs are more
/// than h away from points at which f is not differentiable (relu at 0, ties in
/// max_pool2d).
GradCheckResult grad_check(
    const std::function<Tensor(const std::vector<Tensor>&)>& function,
    const std::vector<Tensor>& inputs, GradCheckOptions options = {});

}  // namespace mini
