#include "libmini/nn/conv.hpp"

#include "libmini/autograd/functions.hpp"
#include "libmini/nn/init.hpp"

namespace mini::nn {

Conv2d::Conv2d(int64_t in_channels, int64_t out_channels, int64_t kernel_size,
               Conv2dOptions options)
    : weight(Tensor::empty({out_channels, in_channels, kernel_size, kernel_size})),
      bias(options.bias ? Tensor::empty({out_channels}) : Tensor()),
      options_(options) {
    init::reset_parameters(weight, bias);
    register_parameter("weight", weight);
    register_parameter("bias", bias);
}

Tensor Conv2d::forward(const Tensor& x) {
    return conv2d(x, weight, bias, options_.stride, options_.padding);
}

}  // namespace mini::nn
