// Initial values of parameters (`torch.nn.init`), drawn as PyTorch draws them.

#pragma once

#include "libmini/core/random.hpp"
#include "libmini/tensor/tensor.hpp"

namespace mini::nn::init {

/// The inputs that one output of a weight (out, in, receptive field...) sums over. Throws
/// ShapeError below two dimensions.
int64_t fan_in(const Tensor& weight);

/// Uniform in [from, to).
void uniform_(Tensor& x, double from, double to, Generator& generator);

/// Uniform in [-bound, bound) with bound = sqrt(6 / ((1 + a²) fan_in)) (He et al. 2015):
/// the variance of a layer's output stays that of its input through a leaky relu of slope
/// a.
void kaiming_uniform_(Tensor& weight, double a, Generator& generator);

/// What Linear and Conv2d start from: kaiming_uniform_ with a = sqrt(5) for the weight,
/// then uniform in ±1/sqrt(fan_in) for the bias, if there is one. Uses this thread's
/// default generator.
void reset_parameters(Tensor& weight, Tensor& bias);

}  // namespace mini::nn::init
