// The losses as objects, so that a program can hold its criterion.

#pragma once

#include "libmini/autograd/functions.hpp"

namespace mini::nn {

/// Scores (N, classes) against classes (N) (`torch.nn.CrossEntropyLoss`).
struct CrossEntropyLoss {
    Reduction reduction = Reduction::kMean;
    Tensor operator()(const Tensor& scores, const Tensor& target) const {
        return cross_entropy(scores, target, reduction);
    }
};

/// Logarithms of probabilities (N, classes) against classes (N) (`torch.nn.NLLLoss`).
struct NLLLoss {
    Reduction reduction = Reduction::kMean;
    Tensor operator()(const Tensor& log_probabilities, const Tensor& target) const {
        return nll_loss(log_probabilities, target, reduction);
    }
};

/// Probabilities against 0 or 1, equal shapes (`torch.nn.BCELoss`).
struct BCELoss {
    Reduction reduction = Reduction::kMean;
    Tensor operator()(const Tensor& probability, const Tensor& target) const {
        return binary_cross_entropy(probability, target, reduction);
    }
};

/// Squared differences, equal shapes (`torch.nn.MSELoss`).
struct MSELoss {
    Reduction reduction = Reduction::kMean;
    Tensor operator()(const Tensor& input, const Tensor& target) const {
        return mse_loss(input, target, reduction);
    }
};

}  // namespace mini::nn
