// Loss functions as objects, which a program can store as its criterion.

#pragma once

#include "libmini/autograd/functions.hpp"

namespace mini::nn {

/// Cross-entropy of scores (N, classes) and target classes (N)
/// (`torch.nn.CrossEntropyLoss`).
struct CrossEntropyLoss {
    Reduction reduction = Reduction::kMean;
    Tensor operator()(const Tensor& scores, const Tensor& target) const {
        return cross_entropy(scores, target, reduction);
    }
};

/// Negative log-likelihood of log-probabilities (N, classes) and target classes (N)
/// (`torch.nn.NLLLoss`).
struct NLLLoss {
    Reduction reduction = Reduction::kMean;
    Tensor operator()(const Tensor& log_probabilities, const Tensor& target) const {
        return nll_loss(log_probabilities, target, reduction);
    }
};

/// Binary cross-entropy of probabilities and targets (0 or 1) of equal shapes
/// (`torch.nn.BCELoss`).
struct BCELoss {
    Reduction reduction = Reduction::kMean;
    Tensor operator()(const Tensor& probability, const Tensor& target) const {
        return binary_cross_entropy(probability, target, reduction);
    }
};

/// Squared error of an input and a target of equal shapes (`torch.nn.MSELoss`).
struct MSELoss {
    Reduction reduction = Reduction::kMean;
    Tensor operator()(const Tensor& input, const Tensor& target) const {
        return mse_loss(input, target, reduction);
    }
};

}  // namespace mini::nn
