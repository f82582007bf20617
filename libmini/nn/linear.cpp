#include "libmini/nn/linear.hpp"

#include "libmini/autograd/functions.hpp"
#include "libmini/autograd/low_precision.hpp"
#include "libmini/nn/init.hpp"

namespace mini::nn {

Linear::Linear(int64_t in_features, int64_t out_features, LinearOptions options)
    : weight(Tensor::empty({out_features, in_features})),
      bias(options.bias ? Tensor::empty({out_features}) : Tensor()) {
    init::reset_parameters(weight, bias);
    register_parameter("weight", weight);
    register_parameter("bias", bias);
}

Tensor Linear::forward(const Tensor& x) {
    const DType dtype = AutocastGuard::dtype();
    if (dtype == DType::kFloat32) return linear(x, weight, bias);
    return low_precision_linear(x, weight, bias, dtype);
}

}  // namespace mini::nn
