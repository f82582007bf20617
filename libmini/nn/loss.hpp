// Loss functions as objects, which a program can store as its criterion.

#pragma once

#include "libmini/autograd/functions.hpp"

namespace mini::nn {

/// A loss with its reduction; called with what kLoss takes first, and the target.
template <Tensor (*kLoss)(const Tensor&, const Tensor&, Reduction)>
struct Loss {
    Reduction reduction = Reduction::kMean;
    Tensor operator()(const Tensor& input, const Tensor& target) const {
        return kLoss(input, target, reduction);
    }
};

/// The losses of PyTorch with these names (`torch.nn.CrossEntropyLoss`, ...).
using CrossEntropyLoss = Loss<cross_entropy>;
using NLLLoss = Loss<nll_loss>;
using MSELoss = Loss<mse_loss>;
using BCELoss = Loss<binary_cross_entropy>;

}  // namespace mini::nn
