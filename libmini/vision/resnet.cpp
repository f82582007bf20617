#include "libmini/vision/resnet.hpp"

#include <cstdint>

#include "libmini/autograd/functions.hpp"
#include "libmini/nn/init.hpp"

namespace mini::nn {
namespace {

constexpr int64_t kStemChannels = 64;

// The convolutions have no bias: the normalisation after them would remove it.
Conv2dOptions same_size(int64_t kernel, int64_t stride = 1) {
    return {.stride = stride, .padding = kernel / 2, .bias = false};
}

void init_kaiming(Module& module) {
    if (auto* const conv = dynamic_cast<Conv2d*>(&module))
        init::kaiming_normal_(conv->weight, {.mode = init::FanMode::kFanOut,
                                             .nonlinearity = init::Nonlinearity::kRelu});
}

// Returns whether x can be added to the block's output without a downsample layer.
bool fits(int64_t in_channels, int64_t out_channels, int64_t stride) {
    return stride == 1 && in_channels == out_channels;
}

void fill_downsample(Sequential& downsample, int64_t in_channels, int64_t out_channels,
                     int64_t stride) {
    downsample.append<Conv2d>(in_channels, out_channels, 1, same_size(1, stride));
    downsample.append<BatchNorm2d>(out_channels);
}

}  // namespace

BasicBlock::BasicBlock(int64_t in_channels, int64_t width, int64_t stride)
    : conv1_(in_channels, width, 3, same_size(3, stride)),
      conv2_(width, width, 3, same_size(3)),
      bn1_(width),
      bn2_(width) {
    register_module("conv1", conv1_);
    register_module("bn1", bn1_);
    register_module("conv2", conv2_);
    register_module("bn2", bn2_);
    if (fits(in_channels, width, stride)) return;
    downsample_ = &make_module<Sequential>("downsample");
    fill_downsample(*downsample_, in_channels, width, stride);
}

Tensor BasicBlock::forward(const Tensor& x) {
    Tensor y = relu(bn1_(conv1_(x)));
    y = bn2_(conv2_(y));
    return relu(y + (downsample_ ? (*downsample_)(x) : x));
}

Bottleneck::Bottleneck(int64_t in_channels, int64_t width, int64_t stride)
    : conv1_(in_channels, width, 1, same_size(1)),
      conv2_(width, width, 3, same_size(3, stride)),
      conv3_(width, kExpansion * width, 1, same_size(1)),
      bn1_(width),
      bn2_(width),
      bn3_(kExpansion * width) {
    register_module("conv1", conv1_);
    register_module("bn1", bn1_);
    register_module("conv2", conv2_);
    register_module("bn2", bn2_);
    register_module("conv3", conv3_);
    register_module("bn3", bn3_);
    if (fits(in_channels, kExpansion * width, stride)) return;
    downsample_ = &make_module<Sequential>("downsample");
    fill_downsample(*downsample_, in_channels, kExpansion * width, stride);
}

Tensor Bottleneck::forward(const Tensor& x) {
    Tensor y = relu(bn1_(conv1_(x)));
    y = relu(bn2_(conv2_(y)));
    y = bn3_(conv3_(y));
    return relu(y + (downsample_ ? (*downsample_)(x) : x));
}

ResNet::ResNet(ResNetBlock block, const std::array<int, 4>& depths, ResNetOptions options)
    : conv1_(3, kStemChannels, 7, {.stride = 2, .padding = 3, .bias = false}),
      bn1_(kStemChannels) {
    register_module("conv1", conv1_);
    register_module("bn1", bn1_);
    int64_t features = 0;
    if (block == ResNetBlock::kBasic)
        features = add_layers<BasicBlock>(depths);
    else
        features = add_layers<Bottleneck>(depths);
    fc_ = &make_module<Linear>("fc", features, options.num_classes);

    for (Module* const module : modules()) init_kaiming(*module);
}

// The first block of a layer changes the width and, from layer2 on, halves the image.
template <typename Block>
int64_t ResNet::add_layers(const std::array<int, 4>& depths) {
    int64_t channels = kStemChannels;
    for (size_t i = 0; i < depths.size(); ++i) {
        const int64_t width = kStemChannels << i;
        for (int block = 0; block < depths[i]; ++block) {
            const int64_t stride = i > 0 && block == 0 ? 2 : 1;
            layers_[i].append<Block>(channels, width, stride);
            channels = width * Block::kExpansion;
        }
        register_module(concat("layer", i + 1), layers_[i]);
    }
    return channels;
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
