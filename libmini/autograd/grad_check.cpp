#include "libmini/autograd/grad_check.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "libmini/autograd/functions.hpp"
#include "libmini/tensor/ops.hpp"

namespace mini {
namespace {

using Function = std::function<Tensor(const std::vector<Tensor>&)>;

// Returns the weighted sum of the result's elements, computed in double.
double weighted_value(const Function& function, const std::vector<Tensor>& inputs,
                      const std::vector<float>& weights) {
    const NoGradGuard no_grad;
    const std::vector<float> values = function(inputs).to_vector<float>();
    double total = 0.0;
    for (size_t i = 0; i < values.size(); ++i)
        total += static_cast<double>(weights[i]) * static_cast<double>(values[i]);
    return total;
}

// Returns the central difference for element `index` of `x`, one of the inputs: the change
// of weighted_value() from element - step to element + step, each rounded to float,
// divided by the distance of the two floats. Afterwards the element has its first value.
double numeric_gradient(const Function& function, const std::vector<Tensor>& inputs,
                        const Tensor& x, size_t index, const std::vector<float>& weights,
                        double step) {
    // [lab03.6] Compute the central difference of one element.
    Tensor element = ops::select(ops::view(x, {-1}), 0, static_cast<int64_t>(index));
    const auto original = static_cast<float>(element.item());
    const auto higher = static_cast<float>(original + step);
    const auto lower = static_cast<float>(original - step);
    ops::fill_(element, higher);
    const double above = weighted_value(function, inputs, weights);
    ops::fill_(element, lower);
    const double below = weighted_value(function, inputs, weights);
    ops::fill_(element, original);
    return (above - below) / (static_cast<double>(higher) - lower);
    // [lab03.6]
}

}  // namespace

GradCheckResult grad_check(const Function& function, const std::vector<Tensor>& inputs,
                           GradCheckOptions options) {
    // Clone the inputs, so that the gradients of the caller's tensors do not change.
    std::vector<Tensor> leaves;
    for (const Tensor& input : inputs) {
        leaves.push_back(ops::clone(input));
        if (input.dtype() == DType::kFloat32) leaves.back().set_requires_grad();
    }

    const Tensor result = function(leaves);
    Generator generator(20);
    std::vector<float> weights(static_cast<size_t>(result.numel()));
    fill_uniform(weights, 0.5, 1.5, generator);
    result.backward(
        {.gradient = Tensor::from(weights, result.shape()).to(result.device())});
    GradCheckResult checked;
    for (size_t k = 0; k < leaves.size(); ++k) {
        if (!leaves[k].requires_grad()) continue;
        if (!leaves[k].grad().defined())
            return {.ok = false,
                    .message = concat("input ", k, " got no gradient"),
                    .largest_error = std::numeric_limits<double>::infinity()};
        const std::vector<float> analytic = leaves[k].grad().to_vector<float>();
        for (size_t i = 0; i < analytic.size(); ++i) {
            const double numeric =
                numeric_gradient(function, leaves, leaves[k], i, weights, options.step);
            const double error =
                std::abs(analytic[i] - numeric) / std::max(1.0, std::abs(numeric));
            checked.largest_error = std::max(checked.largest_error, error);
            if (!(error < options.tolerance))
                return {.ok = false,
                        .message =
                            concat("input ", k, ", element ", i, ": backward() gives ",
                                   analytic[i], ", the central difference is ", numeric),
                        .largest_error = error};
        }
    }
    return checked;
}

}  // namespace mini
