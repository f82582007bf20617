// Initial values of parameters (`torch.nn.init`), drawn as PyTorch draws them.
//
// A weight of shape (out, in, receptive field...) sums `fan_in` products into one output,
// and each input contributes to `fan_out` outputs. With weights of variance v, a sum over
// fan_in inputs of variance 1 has variance fan_in * v. To keep the variance constant from
// layer to layer, v is
//
//     Kaiming   gain² / fan_in, or gain² / fan_out for the gradients (He et al. 2015)
//     Xavier    gain² * 2 / (fan_in + fan_out), a compromise (Glorot and Bengio 2010)
//
// where the gain compensates for the effect of the nonlinearity on the variance. A
// uniform distribution in ±bound has variance bound² / 3, hence the sqrt(3) in the code.
//
// The values are bitwise identical to PyTorch's. By default, all functions draw from this
// thread's default_generator().

#pragma once

#include <cstdint>

#include "libmini/random/random.hpp"
#include "libmini/tensor/tensor.hpp"

namespace mini::nn::init {

/// Returns the number of inputs of one output, for a weight (out, in, receptive
/// field...). Throws ShapeError for fewer than two dimensions.
int64_t fan_in(const Tensor& weight);

/// Returns the number of outputs to which one input contributes. Throws ShapeError for
/// fewer than two dimensions.
int64_t fan_out(const Tensor& weight);

/// The activation function after a layer; kLinear means no activation function.
enum class Nonlinearity { kLinear, kSigmoid, kTanh, kRelu, kLeakyRelu, kSelu };

/// Returns the factor on the standard deviation that compensates for a nonlinearity
/// (`torch.nn.init.calculate_gain`). In the order of Nonlinearity: 1, 1, 5/3, √2,
/// √(2 / (1 + negative_slope²)), 3/4.
double calculate_gain(Nonlinearity nonlinearity, double negative_slope = 0.01);

/// Fills x with uniformly distributed numbers in [from, to).
void uniform_(Tensor& x, double from, double to,
              Generator& generator = default_generator());

/// Fills x with normally distributed numbers.
void normal_(Tensor& x, double mean, double std,
             Generator& generator = default_generator());

/// Fills x with `value`.
void constant_(Tensor& x, double value);

/// Fills `weight` by Xavier initialisation: uniform in ±gain √(6 / (fan_in + fan_out)).
void xavier_uniform_(Tensor& weight, double gain = 1,
                     Generator& generator = default_generator());

/// Fills `weight` by Xavier initialisation: normal with the variance of xavier_uniform_.
void xavier_normal_(Tensor& weight, double gain = 1,
                    Generator& generator = default_generator());

/// Whether to keep the variance of the activations in the forward pass (kFanIn) or of the
/// gradients in the backward pass (kFanOut).
enum class FanMode { kFanIn, kFanOut };

struct KaimingOptions {
    double a = 0;  // the negative slope of a leaky ReLU
    FanMode mode = FanMode::kFanIn;
    Nonlinearity nonlinearity = Nonlinearity::kLeakyRelu;
};

/// Fills `weight` by Kaiming initialisation: uniform in ±gain √(3 / fan).
void kaiming_uniform_(Tensor& weight, KaimingOptions options = {},
                      Generator& generator = default_generator());

/// Fills `weight` by Kaiming initialisation: normal with the variance of
/// kaiming_uniform_.
void kaiming_normal_(Tensor& weight, KaimingOptions options = {},
                     Generator& generator = default_generator());

/// Initialises the parameters of Linear and Conv2d: first the weight by kaiming_uniform_
/// with a = √5, that is, uniform in ±1/√fan_in; then the bias, if it is defined, uniform
/// in the same range. Draws from this thread's default_generator().
void reset_parameters(Tensor& weight, Tensor& bias);

}  // namespace mini::nn::init
