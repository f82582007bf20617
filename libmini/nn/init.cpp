#include "libmini/nn/init.hpp"

#include <cmath>

namespace mini::nn::init {

int64_t fan_in(const Tensor& weight) {
    check_shape(weight.dim() >= 2, "init: a weight has two dimensions or more, not ",
                weight.shape());
    int64_t inputs = 1;
    for (int64_t d = 1; d < weight.dim(); ++d) inputs *= weight.size(d);
    return inputs;
}

void uniform_(Tensor& x, double from, double to, Generator& generator) {
    fill_uniform(x.span<float>(), from, to, generator);
    x.bump_version();
}

// The steps are PyTorch's, in double, so that the bound is the same to the last bit.
void kaiming_uniform_(Tensor& weight, double a, Generator& generator) {
    const double gain = std::sqrt(2.0 / (1.0 + a * a));
    const double std = gain / std::sqrt(static_cast<double>(fan_in(weight)));
    const double bound = std::sqrt(3.0) * std;
    uniform_(weight, -bound, bound, generator);
}

void reset_parameters(Tensor& weight, Tensor& bias) {
    kaiming_uniform_(weight, std::sqrt(5.0), default_generator());
    if (!bias.defined()) return;
    const double bound = 1.0 / std::sqrt(static_cast<double>(fan_in(weight)));
    uniform_(bias, -bound, bound, default_generator());
}

}  // namespace mini::nn::init
