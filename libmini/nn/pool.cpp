#include "libmini/nn/pool.hpp"

#include "libmini/autograd/functions.hpp"

namespace mini::nn {

Tensor MaxPool2d::forward(const Tensor& x) {
    return max_pool2d(x, kernel_size_, stride_, padding_);
}

Tensor AvgPool2d::forward(const Tensor& x) {
    return avg_pool2d(x, kernel_size_, options_.stride, options_.padding,
                      options_.count_include_pad);
}

Tensor AdaptiveAvgPool2d::forward(const Tensor& x) {
    return adaptive_avg_pool2d(x, output_rows_, output_cols_);
}

}  // namespace mini::nn
