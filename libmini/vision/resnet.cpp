#include "libmini/vision/resnet.hpp"

#include <cstdint>
#include <utility>
#include <vector>

#include "libmini/autograd/functions.hpp"
#include "libmini/core/error.hpp"
#include "libmini/nn/init.hpp"

namespace mini::nn {
namespace {

constexpr int64_t kStemChannels = 64;

int64_t expansion(ResNetBlock kind) { return kind == ResNetBlock::kBasic ? 1 : 4; }

// The convolutions have no bias: the normalisation after them would remove it.
Conv2dOptions same_size(int64_t kernel, int64_t stride = 1) {
    return {.stride = stride, .padding = kernel / 2, .bias = false};
}

void init_kaiming(Module& module) {
    if (auto* const conv = dynamic_cast<Conv2d*>(&module))
        init::kaiming_normal_(conv->weight, {.mode = init::FanMode::kFanOut,
                                             .nonlinearity = init::Nonlinearity::kRelu});
}

// Two 3x3 convolutions, the first with the stride; or a 1x1 convolution to fewer channels,
// a 3x3 convolution with the stride, and a 1x1 convolution to more channels. The latter is
// torchvision's variant "V1.5"; in the paper, the first 1x1 convolution has the stride.
class Block : public Module {
  public:
    // Maps (N, in_channels, H, W) to (N, e width, H / stride, W / stride), rounded up.
    Block(ResNetBlock kind, int64_t in_channels, int64_t width, int64_t stride) {
        const int64_t out_channels = expansion(kind) * width;
        if (kind == ResNetBlock::kBasic) {
            add(in_channels, width, 3, stride);
            add(width, out_channels, 3, 1);
        } else {
            add(in_channels, width, 1, 1);
            add(width, width, 3, stride);
            add(width, out_channels, 1, 1);
        }
        if (stride == 1 && in_channels == out_channels) return;
        downsample_ = &make_module<Sequential>("downsample");
        downsample_->append<Conv2d>(in_channels, out_channels, 1, same_size(1, stride));
        downsample_->append<BatchNorm2d>(out_channels);
    }

    Tensor forward(const Tensor& x) override {
        Tensor y = x;
        for (const auto& [conv, bn] : steps_) {
            y = (*bn)((*conv)(y));
            if (bn != steps_.back().second) y = relu(y);
        }
        return relu(y + (downsample_ ? (*downsample_)(x) : x));
    }

  private:
    void add(int64_t in_channels, int64_t out_channels, int64_t kernel, int64_t stride) {
        const size_t number = steps_.size() + 1;
        Conv2d& conv =
            make_module<Conv2d>(concat("conv", number), in_channels, out_channels, kernel,
                                same_size(kernel, stride));
        steps_.emplace_back(
            &conv, &make_module<BatchNorm2d>(concat("bn", number), out_channels));
    }

    std::vector<std::pair<Conv2d*, BatchNorm2d*>> steps_;
    Sequential* downsample_ = nullptr;  // maps x to y's shape; null if the shapes agree
};

}  // namespace

ResNet::ResNet(ResNetBlock block, const std::array<int, 4>& depths, ResNetOptions options)
    : conv1_(3, kStemChannels, 7, {.stride = 2, .padding = 3, .bias = false}),
      bn1_(kStemChannels) {
    register_module("conv1", conv1_);
    register_module("bn1", bn1_);
    int64_t channels = kStemChannels;
    for (size_t i = 0; i < depths.size(); ++i) {
        const int64_t width = kStemChannels << i;
        for (int k = 0; k < depths[i]; ++k) {
            // The first block of a layer changes the width and, from layer2 on, halves
            // the image.
            layers_[i].append<Block>(block, channels, width, i > 0 && k == 0 ? 2 : 1);
            channels = expansion(block) * width;
        }
        register_module(concat("layer", i + 1), layers_[i]);
    }
    fc_ = &make_module<Linear>("fc", channels, options.num_classes);

    for (Module* const module : modules()) init_kaiming(*module);
}

Tensor ResNet::forward(const Tensor& x) {
    Tensor y = relu(bn1_(conv1_(x)));                // (N, 64, H / 2, W / 2)
    y = max_pool2d(y, 3, 2, 1);                      // (N, 64, H / 4, W / 4)
    for (Sequential& layer : layers_) y = layer(y);  // (N, 512 e, H / 32, W / 32)
    return (*fc_)(mean(y, {2, 3}));                  // (N, num_classes)
}

ResNet resnet18(ResNetOptions options) {
    return ResNet(ResNetBlock::kBasic, {2, 2, 2, 2}, options);
}
ResNet resnet50(ResNetOptions options) {
    return ResNet(ResNetBlock::kBottleneck, {3, 4, 6, 3}, options);
}

}  // namespace mini::nn
