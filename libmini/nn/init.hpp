// Initial values of parameters (`torch.nn.init`), drawn as PyTorch draws them.
//
// A weight of shape (out, in, receptive field...) sums `fan_in` numbers into one output,
// and hands one input to `fan_out` outputs. Numbers of variance v summed over fan_in have
// variance fan_in * v: so that signals neither fade nor swell from layer to layer, v is
//
//     Kaiming   gain² / fan_in, or / fan_out to keep gradients (He et al. 2015)
//     Xavier    gain² * 2 / (fan_in + fan_out), between both (Glorot and Bengio 2010)
//
// where the gain makes good for what the nonlinearity takes away. A uniform distribution
// in ±bound has variance bound² / 3, hence the sqrt(3) in the code.
//
// The values are PyTorch's bit for bit, but for orthogonal_. All draw from this thread's
// Stream::kInitialisation unless told otherwise.

#pragma once

#include <cstdint>

#include "libmini/random/random.hpp"
#include "libmini/random/streams.hpp"
#include "libmini/tensor/tensor.hpp"

namespace mini::nn::init {

/// The inputs that one output of a weight (out, in, receptive field...) sums over, and
/// the outputs that one input goes into. Both throw ShapeError below two dimensions.
int64_t fan_in(const Tensor& weight);
int64_t fan_out(const Tensor& weight);

/// What a layer's output passes through; kLinear also stands for none, and for a
/// convolution.
enum class Nonlinearity { kLinear, kSigmoid, kTanh, kRelu, kLeakyRelu, kSelu };

/// The factor on the deviation that makes good for a nonlinearity
/// (`torch.nn.init.calculate_gain`): 1, 1, 5/3, √2, √(2 / (1 + negative_slope²)), 3/4.
double calculate_gain(Nonlinearity nonlinearity, double negative_slope = 0.01);

/// Uniform in [from, to).
void uniform_(Tensor& x, double from, double to,
              Generator& generator = generator_of(Stream::kInitialisation));

/// From the normal distribution.
void normal_(Tensor& x, double mean, double std,
             Generator& generator = generator_of(Stream::kInitialisation));

/// All `value`, all 1, all 0.
void constant_(Tensor& x, double value);
void ones_(Tensor& x);
void zeros_(Tensor& x);

/// 1 on the diagonal, else 0. Throws ShapeError unless x is a matrix.
void eye_(Tensor& x);

/// Xavier: uniform in ±gain √(6 / (fan_in + fan_out)), or normal of the same variance.
void xavier_uniform_(Tensor& weight, double gain = 1,
                     Generator& generator = generator_of(Stream::kInitialisation));
void xavier_normal_(Tensor& weight, double gain = 1,
                    Generator& generator = generator_of(Stream::kInitialisation));

/// What keeps its variance: the activations, or the gradients on their way back.
enum class FanMode { kFanIn, kFanOut };

struct KaimingOptions {
    double a = 0;                    // the slope of a leaky relu below 0
    FanMode mode = FanMode::kFanIn;  // keep the outputs' variance, or the gradients'
    Nonlinearity nonlinearity = Nonlinearity::kLeakyRelu;
};

/// Kaiming: uniform in ±gain √(3 / fan), or normal of the same variance.
void kaiming_uniform_(Tensor& weight, KaimingOptions options = {},
                      Generator& generator = generator_of(Stream::kInitialisation));
void kaiming_normal_(Tensor& weight, KaimingOptions options = {},
                     Generator& generator = generator_of(Stream::kInitialisation));

struct TruncNormalOptions {
    double mean = 0;
    double std = 1;
    double a = -2;  // the least value, not counted in deviations
    double b = 2;   // the largest
};

/// From the normal distribution between a and b, by drawing until a number is kept, as
/// PyTorch 2.15 does; earlier versions draw other numbers. Throws UsageError unless std is
/// positive and a < b, and for an infinite bound where less than 0.3 lies between both.
void trunc_normal_(Tensor& x, TruncNormalOptions options = {},
                   Generator& generator = generator_of(Stream::kInitialisation));

/// Rows (of a wide weight) or columns (of a tall one) at right angles, of length `gain`,
/// in a random direction: the Q of a normal matrix (Saxe et al. 2014; `orthogonal_`).
/// Trailing dimensions count as columns. Computed in double, so equal to PyTorch's, which
/// is LAPACK's in float, to within 1e-6. Throws ShapeError below two dimensions.
void orthogonal_(Tensor& weight, double gain = 1,
                 Generator& generator = generator_of(Stream::kInitialisation));

/// What Linear and Conv2d start from: kaiming_uniform_ with a = √5 for the weight, which
/// is uniform in ±1/√fan_in, then the same for the bias, if there is one. Uses this
/// thread's Stream::kInitialisation.
void reset_parameters(Tensor& weight, Tensor& bias);

}  // namespace mini::nn::init
