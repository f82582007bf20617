#include "labs/20-scaling-by-simulation/published_models.hpp"

#include <fmt/format.h>

#include <array>

#include "libmini/core/error.hpp"
#include "libmini/core/text.hpp"

namespace mini::lab20 {
namespace {

// Collects the parameters of layers. `uses` is the number of uses of each element: the
// number of pixels of the layer's output, or 1 for a layer on tokens.
class Layers {
  public:
    void add(const std::string& name, int64_t numel, double uses) {
        all_.push_back({name, numel, static_cast<double>(numel) * uses});
    }
    void convolution(const std::string& name, int64_t in, int64_t out, int64_t kernel,
                     int64_t side) {
        add(name + ".weight", in * out * kernel * kernel, pixels(side));
    }
    void batch_norm(const std::string& name, int64_t channels, int64_t side) {
        add(name + ".weight", channels, pixels(side));
        add(name + ".bias", channels, pixels(side));
    }
    void linear(const std::string& name, int64_t in, int64_t out) {
        add(name + ".weight", in * out, 1);
        add(name + ".bias", out, 1);
    }
    void layer_norm(const std::string& name, int64_t width) {
        add(name + ".weight", width, 1);
        add(name + ".bias", width, 1);
    }
    void embedding(const std::string& name, int64_t rows, int64_t width) {
        add(name + ".weight", rows * width, 1.0 / static_cast<double>(rows));
    }
    const std::vector<ModelParameter>& all() const { return all_; }

  private:
    static double pixels(int64_t side) { return static_cast<double>(side * side); }

    std::vector<ModelParameter> all_;
};

std::vector<ModelParameter> convnet() {
    Layers layers;
    layers.convolution("conv1", 1, 10, 5, 24);
    layers.add("conv1.bias", 10, 24 * 24);
    layers.convolution("conv2", 10, 20, 5, 8);
    layers.add("conv2.bias", 20, 8 * 8);
    layers.linear("fc1", 320, 50);
    layers.linear("fc2", 50, 10);
    return layers.all();
}

// Adds the layer that maps a block's input to the size of its output.
void add_downsample(Layers& layers, const std::string& name, int64_t in, int64_t out,
                    int64_t side) {
    layers.convolution(name + ".downsample.0", in, out, 1, side);
    layers.batch_norm(name + ".downsample.1", out, side);
}

// Adds a basic block of two 3 x 3 convolutions, the first with the stride.
void add_basic_block(Layers& layers, const std::string& name, int64_t in, int64_t width,
                     int64_t side) {
    layers.convolution(name + ".conv1", in, width, 3, side);
    layers.batch_norm(name + ".bn1", width, side);
    layers.convolution(name + ".conv2", width, width, 3, side);
    layers.batch_norm(name + ".bn2", width, side);
    if (in != width) add_downsample(layers, name, in, width, side);
}

// Adds a bottleneck block of three convolutions: 1 x 1, 3 x 3 with the stride, and 1 x 1
// to four times the channels.
void add_bottleneck(Layers& layers, const std::string& name, int64_t in, int64_t width,
                    int64_t side_in, int64_t side) {
    layers.convolution(name + ".conv1", in, width, 1, side_in);
    layers.batch_norm(name + ".bn1", width, side_in);
    layers.convolution(name + ".conv2", width, width, 3, side);
    layers.batch_norm(name + ".bn2", width, side);
    layers.convolution(name + ".conv3", width, 4 * width, 1, side);
    layers.batch_norm(name + ".bn3", 4 * width, side);
    if (in != 4 * width) add_downsample(layers, name, in, 4 * width, side);
}

// Returns the parameters of a ResNet with so many blocks in layer1 to layer4. The last
// convolution of a block has `expansion` times the block's width as its channels.
std::vector<ModelParameter> resnet(const std::array<int, 4>& blocks, int64_t expansion) {
    Layers layers;
    layers.convolution("conv1", 3, 64, 7, 112);
    layers.batch_norm("bn1", 64, 112);
    int64_t in = 64, width = 64, side_in = 56, side = 56;
    for (size_t stage = 0; stage < blocks.size(); ++stage) {
        for (int block = 0; block < blocks[stage]; ++block) {
            const std::string name = fmt::format("layer{}.{}", stage + 1, block);
            if (expansion == 1)
                add_basic_block(layers, name, in, width, side);
            else
                add_bottleneck(layers, name, in, width, side_in, side);
            in = expansion * width;
            side_in = side;
        }
        width *= 2;
        side /= 2;
    }
    layers.linear("fc", in, 1000);
    return layers.all();
}

void add_encoder_layer(Layers& layers, const std::string& name, int64_t width) {
    for (const char* const part : {"query", "key", "value"})
        layers.linear(name + ".attention.self." + part, width, width);
    layers.linear(name + ".attention.output.dense", width, width);
    layers.layer_norm(name + ".attention.output.LayerNorm", width);
    layers.linear(name + ".intermediate.dense", width, 4 * width);
    layers.linear(name + ".output.dense", 4 * width, width);
    layers.layer_norm(name + ".output.LayerNorm", width);
}

std::vector<ModelParameter> bert(int depth, int64_t width) {
    constexpr int64_t kWords = 30522, kPositions = 512, kSegments = 2;
    Layers layers;
    layers.embedding("embeddings.word_embeddings", kWords, width);
    layers.embedding("embeddings.position_embeddings", kPositions, width);
    layers.embedding("embeddings.token_type_embeddings", kSegments, width);
    layers.layer_norm("embeddings.LayerNorm", width);
    for (int layer = 0; layer < depth; ++layer)
        add_encoder_layer(layers, fmt::format("encoder.layer.{}", layer), width);
    layers.linear("pooler.dense", width, width);
    return layers.all();
}

}  // namespace

std::vector<std::string> published_models() {
    return {"convnet", "resnet18", "resnet50", "bert", "bert-large"};
}

std::vector<ModelParameter> published_model(const std::string& name) {
    if (name == "convnet") return convnet();
    if (name == "resnet18") return resnet({2, 2, 2, 2}, 1);
    if (name == "resnet50") return resnet({3, 4, 6, 3}, 4);
    if (name == "bert") return bert(12, 768);
    if (name == "bert-large") return bert(24, 1024);
    throw UsageError("no model is named \"", name, "\"; the models are ",
                     join(published_models()));
}

}  // namespace mini::lab20
