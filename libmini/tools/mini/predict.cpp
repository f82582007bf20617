// mini predict: reads digits from pictures, with a ConvNet that train_mnist has saved.
//
//     $ mini predict convnet.safetensors seven.png
//     seven.png: 7 (99.2 %), 1 (0.5 %), 9 (0.2 %)
//     ... what the network saw, as text

#include "libmini/tools/mini/commands.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>
#include <string>
#include <vector>

#include "libmini/autograd/functions.hpp"
#include "libmini/autograd/node.hpp"
#include "libmini/core/error.hpp"
#include "libmini/datasets/image_file.hpp"
#include "libmini/datasets/mnist.hpp"
#include "libmini/io/safetensors.hpp"
#include "libmini/nn/models.hpp"
#include "libmini/tools/mini/digit_image.hpp"

namespace mini::tools {
namespace {

constexpr size_t kClasses = 10, kShown = 3;

struct Options {
    std::string model;
    std::vector<std::string> pictures;
    bool json = false;
};

void load(nn::ConvNet& model, const std::string& path) {
    const io::Safetensors file = io::load_safetensors(path);
    try {
        model.load_state_dict(file.tensors);
    } catch (const Error& error) {
        throw UsageError(path, " is not a ConvNet that `train_mnist --save ", path,
                         "` wrote: ", error.what());
    }
    model.eval();
}

// Returns the probability of each digit.
std::vector<double> probabilities(nn::ConvNet& model, const Tensor& digit) {
    const NoGradGuard no_grad;
    const auto [mean, std] = data::mnist_normalize();
    const Tensor input = reshape((digit - mean[0]) / std[0], {1, 1, 28, 28});
    const auto chances = softmax(model(input)).to_vector<float>();
    return {chances.begin(), chances.end()};
}

std::string line_of(const std::string& path, const std::vector<double>& chances) {
    std::array<size_t, kClasses> order{};
    std::iota(order.begin(), order.end(), size_t{0});
    std::ranges::stable_sort(order, std::greater(),
                             [&](size_t digit) { return chances[digit]; });
    std::string text = concat(path, ":");
    for (size_t i = 0; i < kShown; ++i)
        text += fmt::format("{} {} ({:.1f} %)", i == 0 ? "" : ",", order[i],
                            100 * chances[order[i]]);
    return text;
}

void predict(const Options& options) {
    nn::ConvNet model;
    load(model, options.model);
    for (const std::string& path : options.pictures) {
        const Tensor digit =
            as_mnist(data::decode_image(path, data::ImageMode::kGreyOverWhite), path);
        const std::vector<double> chances = probabilities(model, digit);
        const auto best = std::ranges::max_element(chances) - chances.begin();
        if (options.json) {
            const nlohmann::ordered_json object = {
                {"file", path}, {"digit", best}, {"probabilities", chances}};
            fmt::print("{}\n", object.dump());
            continue;
        }
        fmt::print("{}\n", line_of(path, chances));
        fmt::print("{}\n", as_text(digit, "    "));
    }
}

}  // namespace

void add_predict(Command& mini) {
    Command command = mini.add_command("predict", "Reads digits from pictures");
    auto options = std::make_shared<Options>();
    command.add("MODEL", options->model, "What train_mnist --save wrote").required();
    command.add("PICTURE", options->pictures, "PNG or JPEG files").required();
    command.add_flag("--json", options->json, "One JSON object per picture");
    command.on_parsed([options] { predict(*options); });
}

}  // namespace mini::tools
