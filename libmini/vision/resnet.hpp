// Residual networks, with torchvision's parameter names and initial values, so that
// torchvision's weights can be loaded (`torchvision.models.resnet`).
//
// A block computes y = relu(x + f(x)). The sum passes the gradient to x unchanged, so a
// network of a hundred blocks can be trained, unlike a network of a hundred plain layers.
//
//     BasicBlock       x -+- conv 3x3 - bn - relu - conv 3x3 - bn ------------ + - relu
//     (18)                `----------------------------------------------------'
//     Bottleneck       x -+- conv 1x1 - .. - conv 3x3 - .. - conv 1x1 - bn --- + - relu
//     (50)                `----------------------------------------------------'
//
// He, Zhang, Ren, Sun 2015, "Deep residual learning for image recognition".

#pragma once

#include <array>
#include <cstdint>

#include "libmini/nn/container.hpp"
#include "libmini/nn/conv.hpp"
#include "libmini/nn/linear.hpp"
#include "libmini/nn/norm.hpp"

namespace mini::nn {

struct ResNetOptions {
    int64_t num_classes = 1000;
};

/// The kind of block that a network is built from.
enum class ResNetBlock { kBasic, kBottleneck };

/// A ResNet: maps images (N, 3, H, W) to class scores (N, num_classes). H and W may be
/// any positive numbers, but training needs two values per channel in each normalisation.
///
///     image (3, 224, 224)  conv 7x7 / 2 - bn - relu - max-pool 3x3 / 2  (64, 56, 56)
///     layer1               blocks of width 64                           (64 e, 56, 56)
///     layer2 to layer4     widths 128, 256, 512; each halves the image  (512 e, 7, 7)
///     head                 average pooling - fc                         (num_classes)
///
/// The expansion e is a block's number of output channels divided by its width: 1 for
/// kBasic, 4 for kBottleneck.
class ResNet : public Module {
  public:
    /// `depths` are the numbers of blocks of layer1 to layer4. Convolutions are
    /// initialised by kaiming_normal_ with fan_out, normalisations with weight 1 and bias
    /// 0, and fc as any Linear.
    ResNet(ResNetBlock block, const std::array<int, 4>& depths,
           ResNetOptions options = {});
    Tensor forward(const Tensor& x) override;

  private:
    Conv2d conv1_;
    BatchNorm2d bn1_;
    std::array<Sequential, 4> layers_;  // layer1 to layer4
    Linear* fc_ = nullptr;  // created after the blocks determine its input size
};

/// Return the networks of torchvision. With 1000 classes these networks have 11,689,512
/// and 25,557,032 parameters.
ResNet resnet18(ResNetOptions options = {});
ResNet resnet50(ResNetOptions options = {});

}  // namespace mini::nn
