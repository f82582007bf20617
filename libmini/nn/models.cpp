#include "libmini/nn/models.hpp"

#include "libmini/autograd/functions.hpp"

// [lab05 file]
namespace mini::nn {

ConvNet::ConvNet(ConvNetOptions options)
    : conv2_drop_(options.dropout ? 0.5 : 0.0), fc1_drop_(options.dropout ? 0.5 : 0.0) {
    // [lab05.5] Register each member under its name without the underscore.
    register_module("conv1", conv1_);
    register_module("conv2", conv2_);
    register_module("conv2_drop", conv2_drop_);
    register_module("fc1", fc1_);
    register_module("fc1_drop", fc1_drop_);
    register_module("fc2", fc2_);
    // [lab05.5]
}

Tensor ConvNet::forward(const Tensor& x) {
    // [lab05.5] Compute the class scores.
    Tensor y = relu(max_pool2d(conv1_(x), 2));        // (N, 10, 12, 12)
    y = relu(max_pool2d(conv2_drop_(conv2_(y)), 2));  // (N, 20, 4, 4)
    y = relu(fc1_(view(y, {-1, 320})));               // (N, 50)
    return fc2_(fc1_drop_(y));                        // (N, 10)
    // [lab05.5]
}

}  // namespace mini::nn
// [lab05 file]
