// convnet_pictures: draws what a trained ConvNet has learned, and where it is wrong: the
// filters of its first layer, and the test images that it classifies wrongly with the
// highest confidence.
//
//     train_mnist --epochs 10 --save convnet.safetensors
//     convnet_pictures convnet.safetensors --svg filters.svg
//
// Exit codes: 0 done, 1 failed, 2 invalid options.

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <functional>
#include <iostream>
#include <span>
#include <string>
#include <vector>

#include "libmini/autograd/functions.hpp"
#include "libmini/autograd/node.hpp"
#include "libmini/data/loader.hpp"
#include "libmini/datasets/locate.hpp"
#include "libmini/io/safetensors.hpp"
#include "libmini/nn/models.hpp"
#include "libmini/training/common_options.hpp"
#include "libmini/training/program.hpp"

namespace {

using namespace mini;

constexpr int64_t kSide = 28, kClasses = 10, kColumns = 8;
constexpr int64_t kScale = 3;      // pixels of the picture per pixel of an image
constexpr int kCell = 28 * 3 + 8;  // an image and the space after it
constexpr int kLeft = 16;

struct Options {
    std::string model;
    std::string data;
    std::string svg = "convnet.svg";
    int64_t mistakes = 24;
};

// A test image with a wrong prediction.
struct Mistake {
    int64_t index, label, predicted;
    double probability;  // of the prediction, by softmax
};

struct Evaluation {
    int64_t images = 0;
    std::vector<Mistake> mistakes;  // the most confident first
};

Evaluation evaluate(nn::Module& model, const data::ImageDataset& test) {
    const NoGradGuard no_grad;
    model.eval();
    Evaluation result;
    for (int64_t begin = 0; begin < test.size(); begin += 500) {
        std::vector<int64_t> indices;
        for (int64_t i = begin; i < std::min(test.size(), begin + 500); ++i)
            indices.push_back(i);
        const std::vector<float> logs =
            log_softmax(model(test.get_batch(indices).data)).to_vector<float>();
        for (const int64_t index : indices) {
            const std::span row = std::span(logs).subspan(
                static_cast<size_t>((index - begin) * kClasses), kClasses);
            const auto best = std::ranges::max_element(row);
            const int64_t predicted = best - row.begin();
            ++result.images;
            if (predicted != test.label(index))
                result.mistakes.push_back(
                    {index, test.label(index), predicted, std::exp(double{*best})});
        }
    }
    std::ranges::stable_sort(result.mistakes, std::greater(), &Mistake::probability);
    return result;
}

// ---- the picture

// Returns an image (28, 28) as one path per grey level: runs of equal pixels in a row.
std::string image_paths(const uint8_t* pixels) {
    constexpr int kLevels = 8;
    std::array<std::string, kLevels> paths;
    for (int64_t h = 0; h < kSide; ++h)
        for (int64_t w = 0, end = 0; w < kSide; w = end) {
            const int level = pixels[h * kSide + w] * kLevels / 256;
            for (end = w;
                 end < kSide && pixels[h * kSide + end] * kLevels / 256 == level;)
                ++end;
            if (level > 0)
                paths[static_cast<size_t>(level)] +=
                    fmt::format("M{} {}h{}", w, h, end - w);
        }
    std::string text = "<rect class=\"ink0\" width=\"28\" height=\"28\"/>";
    for (size_t level = 1; level < kLevels; ++level)
        if (!paths[level].empty())
            text += fmt::format("<path class=\"ink{}\" d=\"{}\"/>", level, paths[level]);
    return text;
}

// Returns a filter (5, 5): red for positive weights, blue for negative ones, the
// stronger the larger; `largest` is the largest size of a weight.
std::string filter_squares(std::span<const float> weights, float largest) {
    std::string text;
    for (int64_t k = 0; k < static_cast<int64_t>(weights.size()); ++k) {
        const float weight = weights[static_cast<size_t>(k)];
        text += fmt::format(
            "<rect x=\"{}\" y=\"{}\" width=\"1.02\" height=\"1.02\" fill=\"{}\" "
            "fill-opacity=\"{:.2f}\"/>",
            k % 5, k / 5, weight > 0 ? "#c2410c" : "#1d6fb8", std::abs(weight) / largest);
    }
    return text;
}

std::string group(int x, int y, int scale, const std::string& inside) {
    return fmt::format("<g transform=\"translate({} {}) scale({})\">{}</g>\n", x, y,
                       scale, inside);
}

std::string words(int x, int y, const std::string& style, const std::string& text) {
    return fmt::format("<text x=\"{}\" y=\"{}\" class=\"{}\">{}</text>\n", x, y, style,
                       text);
}

constexpr const char* kStyle = R"(<style>
  text { font: 13px system-ui, -apple-system, "Segoe UI", "DejaVu Sans", sans-serif; fill: #1f2933 }
  .title { font-size: 15px; font-weight: 600 }
  .small { font-size: 12px; fill: #52606d }
  path { stroke-width: 1.04; fill: none; transform: translateY(0.5px) }
  .ink0 { fill: #101418 } .ink1 { stroke: #2d3339 } .ink2 { stroke: #4b535a }
  .ink3 { stroke: #6d757c } .ink4 { stroke: #90989f } .ink5 { stroke: #b4bbc0 }
  .ink6 { stroke: #d8dcdf } .ink7 { stroke: #ffffff }
  @media (prefers-color-scheme: dark) { text { fill: #e4e7eb } .small { fill: #9aa5b1 } }
</style>
)";

std::string draw(const std::vector<float>& weights, const data::ImageDataset& test,
                 const Evaluation& evaluation, int64_t mistakes) {
    float largest = 1e-12f;
    for (const float weight : weights) largest = std::max(largest, std::abs(weight));

    std::string body = words(kLeft, 26, "title", "The filters of conv1");
    for (size_t o = 0; o < weights.size() / 25; ++o)
        body += group(kLeft + static_cast<int>(o) * 72, 40, 12,
                      filter_squares(std::span(weights).subspan(25 * o, 25), largest));
    body +=
        words(kLeft, 120, "small",
              "red: positive weights, blue: negative; the colour is the stronger, the "
              "larger the weight");

    const auto shown =
        std::min(mistakes, static_cast<int64_t>(evaluation.mistakes.size()));
    body += words(kLeft, 156, "title",
                  fmt::format("{} of {} mistakes, the most confident first", shown,
                              evaluation.mistakes.size()));
    for (int64_t k = 0; k < shown; ++k) {
        const Mistake& mistake = evaluation.mistakes[static_cast<size_t>(k)];
        const int x = kLeft + static_cast<int>(k % kColumns) * kCell;
        const int y = 170 + static_cast<int>(k / kColumns) * (kCell + 22);
        body += group(x, y, kScale, image_paths(test.pixels(mistake.index)));
        body += words(x, y + 100, "small",
                      fmt::format("{} as {}: {:.0f}%", mistake.label, mistake.predicted,
                                  100 * mistake.probability));
    }
    const int64_t rows = (shown + kColumns - 1) / kColumns;
    const int64_t width = 2 * kLeft + kColumns * kCell;
    const int64_t height = 176 + rows * (kCell + 22);
    return fmt::format(
               "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" "
               "width=\"{0}\" height=\"{1}\" role=\"img\" aria-label=\"The filters of "
               "the "
               "first layer, and test images that the network classifies wrongly\">\n",
               width, height) +
           kStyle + body + "</svg>\n";
}

void run(const Options& options) {
    const io::Safetensors file = io::load_safetensors(options.model);
    nn::ConvNet model;
    model.load_state_dict(file.tensors);
    const data::DataChoice choice = data::find_data(options.data);
    const auto test = data::load_data(choice, /*train=*/false);
    const Evaluation evaluation = evaluate(model, *test);
    const auto wrong = static_cast<int64_t>(evaluation.mistakes.size());
    std::cout << fmt::format("{}: {} of {} test images are correct, {:.2f} %\n",
                             choice.name, evaluation.images - wrong, evaluation.images,
                             100.0 * static_cast<double>(evaluation.images - wrong) /
                                 static_cast<double>(evaluation.images));
    std::array<std::array<int64_t, kClasses>, kClasses> counts{};
    for (const Mistake& mistake : evaluation.mistakes)
        ++counts[static_cast<size_t>(mistake.label)]
                [static_cast<size_t>(mistake.predicted)];
    std::cout << "mistakes: a row for each label, a column for each prediction\n";
    for (size_t label = 0; label < kClasses; ++label) {
        std::cout << fmt::format("  {}", label);
        for (const int64_t count : counts[label]) std::cout << fmt::format("{:5}", count);
        std::cout << '\n';
    }
    std::ofstream svg(options.svg);
    svg << draw(file.at("conv1.weight").to_vector<float>(), *test, evaluation,
                options.mistakes);
    if (!svg.flush()) throw Error("cannot write " + options.svg);
    std::cout << "drawn: " << options.svg << '\n';
}

}  // namespace

int main(int argc, char** argv) {
    return training::run("convnet_pictures", [&] {
        Options options;
        CommandLine line("Draws a trained ConvNet's filters and mistakes.",
                         "convnet_pictures");
        line.add("MODEL", options.model, "the file of train_mnist --save").required();
        line.add("--data", options.data, "a folder of MNIST, or digits");
        line.add("--svg", options.svg, "the picture");
        training::add_count(line, "--mistakes", options.mistakes, "images to draw");
        if (line.parse(argc, argv)) run(options);
    });
}
