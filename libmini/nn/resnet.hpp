// Residual networks, with the names and initial values of torchvision, so that its weights
// load (`torchvision.models.resnet`).
//
// A block computes what to add to its input, y = relu(x + f(x)). The sum hands a gradient on
// unchanged, so a hundred blocks still learn where a hundred plain layers do not.
//
//     BasicBlock       x -+- conv 3x3 - bn - relu - conv 3x3 - bn ------------ + - relu
//     (18, 34)            `----------------------------------------------------'
//     Bottleneck       x -+- conv 1x1 - .. - conv 3x3 - .. - conv 1x1 - bn --- + - relu
//     (50, 101, 152)      `----------------------------------------------------'
//
//     an image (3, 224, 224)   conv 7x7 / 2 - bn - relu - max-pool 3x3 / 2   (64, 56, 56)
//     layer1                   blocks of width 64                            (64 e, 56, 56)
//     layer2, layer3, layer4   widths 128, 256, 512; each halves the image   (512 e, 7, 7)
//     head                     average pooling - fc                          (num_classes)
//
// with the expansion e: a bottleneck of width w works on w channels and gives out e w = 4 w,
// a basic block gives out w.
//
// He, Zhang, Ren, Sun 2015, "Deep residual learning for image recognition". A bottleneck
// strides in its 3x3 convolution, not in the first 1x1 as there (torchvision's "V1.5").

#pragma once

#include <array>
#include <cstdint>

#include "libmini/nn/container.hpp"
#include "libmini/nn/conv.hpp"
#include "libmini/nn/linear.hpp"
#include "libmini/nn/norm.hpp"

namespace mini::nn {

/// Two 3x3 convolutions; the first strides.
class BasicBlock : public Module {
  public:
    static constexpr int64_t kExpansion = 1;

    /// (N, in_channels, H, W) to (N, width, H / stride, W / stride), rounded up.
    BasicBlock(int64_t in_channels, int64_t width, int64_t stride);
    Tensor forward(const Tensor& x) override;

    /// The last normalisation: with weight 0 the block is its input.
    BatchNorm2d& last_norm() { return bn2_; }

  private:
    Conv2d conv1_, conv2_;
    BatchNorm2d bn1_, bn2_;
    Sequential* downsample_ = nullptr;  // fits x to the sum; none where x fits as it is
};

/// Convolutions 1x1 to fewer channels, 3x3, which strides, and 1x1 to more channels.
class Bottleneck : public Module {
  public:
    static constexpr int64_t kExpansion = 4;

    /// (N, in_channels, H, W) to (N, 4 width, H / stride, W / stride), rounded up.
    Bottleneck(int64_t in_channels, int64_t width, int64_t stride);
    Tensor forward(const Tensor& x) override;

    /// The last normalisation: with weight 0 the block is its input.
    BatchNorm2d& last_norm() { return bn3_; }

  private:
    Conv2d conv1_, conv2_, conv3_;
    BatchNorm2d bn1_, bn2_, bn3_;
    Sequential* downsample_ = nullptr;  // fits x to the sum; none where x fits as it is
};

struct ResNetOptions {
    int64_t num_classes = 1000;
    bool zero_init_residual = false;  // every block starts as the identity
};

/// What the networks are built of.
enum class ResNetBlock { kBasic, kBottleneck };

/// The network, images (N, 3, H, W) to class scores (N, num_classes). Any H and W do, from
/// 1 on, as long as training leaves two values per channel.
class ResNet : public Module {
  public:
    /// `depths` counts the blocks of layer1 to layer4. Convolutions start as kaiming_normal_
    /// of fan_out, normalisations as 1 and 0, fc as Linear does.
    ResNet(ResNetBlock block, const std::array<int, 4>& depths,
           ResNetOptions options = {});
    Tensor forward(const Tensor& x) override;

  private:
    // Makes layer1 to layer4, and returns how many channels come out.
    template <typename Block>
    int64_t add_layers(const std::array<int, 4>& depths);

    Conv2d conv1_;
    BatchNorm2d bn1_;
    std::array<Sequential, 4> layers_;  // layer1 to layer4
    Linear* fc_ = nullptr;              // made once the blocks have told its width
};

/// With 1000 classes 11,689,512, 21,797,672, 25,557,032, 44,549,160 and 60,192,808
/// parameters.
ResNet resnet18(ResNetOptions options = {});
ResNet resnet34(ResNetOptions options = {});
ResNet resnet50(ResNetOptions options = {});
ResNet resnet101(ResNetOptions options = {});
ResNet resnet152(ResNetOptions options = {});

}  // namespace mini::nn
