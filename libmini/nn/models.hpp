// The models that the labs train.

#pragma once

#include "libmini/nn/conv.hpp"
#include "libmini/nn/dropout.hpp"
#include "libmini/nn/linear.hpp"

namespace mini::nn {

struct ConvNetOptions {
    bool dropout = true;
};

/// The ConvNet of PyTorch's tutorial on distributed training, 21,840 parameters, but
/// without its log_softmax, which is part of cross_entropy, and with its last dropout, a
/// function there, as the module fc1_drop:
///
///     (N, 1, 28, 28)  conv 1-10 k5   -> (N, 10, 24, 24)
///                     max-pool 2     -> (N, 10, 12, 12)  relu
///                     conv 10-20 k5  -> (N, 20, 8, 8)    dropout2d
///                     max-pool 2     -> (N, 20, 4, 4)    relu, flatten -> (N, 320)
///                     fc 320-50, relu, dropout, fc 50-10 -> (N, 10), the class scores
class ConvNet : public Module {
  public:
    explicit ConvNet(ConvNetOptions options = {});
    Tensor forward(const Tensor& x) override;

  private:
    Conv2d conv1_{1, 10, 5};
    Conv2d conv2_{10, 20, 5};
    Dropout2d conv2_drop_;
    Linear fc1_{320, 50};
    Dropout fc1_drop_;
    Linear fc2_{50, 10};
};

}  // namespace mini::nn
