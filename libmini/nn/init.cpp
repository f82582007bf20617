#include "libmini/nn/init.hpp"

#include <cmath>

#include "libmini/tensor/autograd_meta.hpp"
#include "libmini/tensor/on_cpu.hpp"

namespace mini::nn::init {
namespace {

// Returns the product of the dimensions after out and in: a kernel's height times width.
int64_t receptive_field(const Tensor& weight) {
    check_shape(weight.dim() >= 2, "init: a weight needs two or more dimensions, got ",
                weight.shape());
    int64_t field = 1;
    for (int64_t d = 2; d < weight.dim(); ++d) field *= weight.size(d);
    return field;
}

// Computes in double, in PyTorch's order, so that the bounds are bitwise identical.
double xavier_std(const Tensor& weight, double gain) {
    return gain * std::sqrt(2.0 / static_cast<double>(fan_in(weight) + fan_out(weight)));
}

double kaiming_std(const Tensor& weight, const KaimingOptions& options) {
    // [lab04.5] Compute Kaiming's standard deviation, for the fan of the mode.
    const bool in = options.mode == FanMode::kFanIn;
    const auto fan = static_cast<double>(in ? fan_in(weight) : fan_out(weight));
    return calculate_gain(options.nonlinearity, options.a) / std::sqrt(fan);
    // [lab04.5]
}

}  // namespace

int64_t fan_in(const Tensor& weight) { return weight.size(1) * receptive_field(weight); }

int64_t fan_out(const Tensor& weight) { return weight.size(0) * receptive_field(weight); }

double calculate_gain(Nonlinearity nonlinearity, double negative_slope) {
    switch (nonlinearity) {
        case Nonlinearity::kLinear:
        case Nonlinearity::kSigmoid: return 1;
        case Nonlinearity::kTanh: return 5.0 / 3;
        case Nonlinearity::kRelu: return std::sqrt(2.0);
        case Nonlinearity::kLeakyRelu:
            return std::sqrt(2.0 / (1 + negative_slope * negative_slope));
        case Nonlinearity::kSelu: return 3.0 / 4;
    }
    throw UsageError("calculate_gain: no such nonlinearity");
}

void uniform_(Tensor& x, double from, double to, Generator& generator) {
    on_cpu(x,
           [&](Tensor& host) { fill_uniform(host.span<float>(), from, to, generator); });
    x.bump_version();
}

void normal_(Tensor& x, double mean, double std, Generator& generator) {
    on_cpu(x,
           [&](Tensor& host) { fill_normal(host.span<float>(), mean, std, generator); });
    x.bump_version();
}

void constant_(Tensor& x, double value) {
    const NoGradGuard no_grad;
    ops::copy_(x, ops::expand(Tensor::full({}, value, x.dtype(), x.device()), x.shape()));
}

void xavier_uniform_(Tensor& weight, double gain, Generator& generator) {
    const double bound = std::sqrt(3.0) * xavier_std(weight, gain);
    uniform_(weight, -bound, bound, generator);
}

void xavier_normal_(Tensor& weight, double gain, Generator& generator) {
    normal_(weight, 0, xavier_std(weight, gain), generator);
}

void kaiming_uniform_(Tensor& weight, KaimingOptions options, Generator& generator) {
    const double bound = std::sqrt(3.0) * kaiming_std(weight, options);
    uniform_(weight, -bound, bound, generator);
}

void kaiming_normal_(Tensor& weight, KaimingOptions options, Generator& generator) {
    normal_(weight, 0, kaiming_std(weight, options), generator);
}

void reset_parameters(Tensor& weight, Tensor& bias) {
    // [lab04.5] Draw the weight, then the bias, from the same interval.
    kaiming_uniform_(weight, {.a = std::sqrt(5.0)});
    if (!bias.defined()) return;
    const auto fan = static_cast<double>(fan_in(weight));
    const double bound = fan > 0 ? 1.0 / std::sqrt(fan) : 0.0;
    uniform_(bias, -bound, bound);
    // [lab04.5]
}

}  // namespace mini::nn::init
