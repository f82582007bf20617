#include "libmini/report/evaluation.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <nlohmann/json.hpp>
#include <span>
#include <utility>

#include "libmini/nn/evaluation_guard.hpp"
#include "libmini/tensor/ops.hpp"

namespace mini::report {
namespace {

using nlohmann::ordered_json;

// Returns the size of the images of a batch; of 0 pixels if they are no images.
PngSize image_size(const Tensor& data) {
    const bool is_image = data.dim() == 4 && (data.size(1) == 1 || data.size(1) == 3);
    if (!is_image) return {.width = 0, .height = 0};
    return {.width = data.size(3), .height = data.size(2), .channels = data.size(1)};
}

// Returns the pixels of an image (C, H, W), stretched to bytes, as (H, W, C).
std::vector<uint8_t> pixels_of(std::span<const float> image, const PngSize& size) {
    const auto [low, high] = std::ranges::minmax_element(image);
    std::vector<uint8_t> bytes(image.size());
    const int64_t plane = size.width * size.height;
    for (int64_t c = 0; c < size.channels; ++c)
        for (int64_t i = 0; i < plane; ++i) {
            const float value = image[static_cast<size_t>(c * plane + i)];
            const float share = *high > *low ? (value - *low) / (*high - *low) : 0.0f;
            bytes[static_cast<size_t>(i * size.channels + c)] =
                static_cast<uint8_t>(std::lround(255.0f * share));
        }
    return bytes;
}

bool is_more_confident(const Mistake& a, const Mistake& b) {
    return a.confidence != b.confidence ? a.confidence > b.confidence : a.index < b.index;
}

void keep_most_confident(std::vector<Mistake>& mistakes) {
    std::ranges::stable_sort(mistakes, is_more_confident);
    if (mistakes.size() > kMistakes) mistakes.resize(kMistakes);
}

// Counts one batch, whose first sample is number `first` of `indices`.
void add_batch(Evaluation& all, const Tensor& outputs, const data::Batch& batch,
               std::span<const int64_t> indices) {
    const auto predicted = ops::argmax(outputs).to_vector<int64_t>();
    const auto log_probabilities = ops::log_softmax(outputs).to_vector<float>();
    const auto labels = batch.target.to_vector<int64_t>();
    const auto classes = static_cast<size_t>(outputs.size(1));
    if (all.confusion.empty())
        all.confusion.assign(classes, std::vector<int64_t>(classes));
    const PngSize size = image_size(batch.data);
    const auto pixels = static_cast<size_t>(size.width * size.height * size.channels);
    const auto data = pixels == 0 ? std::vector<float>() : batch.data.to_vector<float>();
    for (size_t i = 0; i < labels.size(); ++i) {
        const auto label = static_cast<size_t>(labels[i]);
        const auto guess = static_cast<size_t>(predicted[i]);
        ++all.confusion.at(label).at(guess);
        if (label == guess) continue;
        Mistake mistake{
            .index = indices[i],
            .label = labels[i],
            .predicted = predicted[i],
            .confidence = std::exp(double{log_probabilities[classes * i + guess]}),
            .size = size,
            .pixels = {}};
        const bool is_kept = all.mistakes.size() < kMistakes ||
                             is_more_confident(mistake, all.mistakes.back());
        if (std::isnan(mistake.confidence) || !is_kept) continue;
        if (pixels > 0)
            mistake.pixels = pixels_of(std::span(data).subspan(pixels * i, pixels), size);
        all.mistakes.push_back(std::move(mistake));
        keep_most_confident(all.mistakes);
    }
}

}  // namespace

int64_t Evaluation::correct() const {
    int64_t count = 0;
    for (size_t label = 0; label < confusion.size(); ++label)
        count += confusion[label][label];
    return count;
}

int64_t Evaluation::seen() const {
    int64_t count = 0;
    for (const auto& row : confusion)
        for (const int64_t samples : row) count += samples;
    return count;
}

Evaluation evaluate(nn::Module& model, data::DataLoader& loader,
                    const std::vector<int64_t>& indices) {
    const nn::EvaluationGuard evaluation(model);
    Evaluation all;
    size_t first = 0;
    for (const data::Batch& batch : loader) {
        add_batch(all, model(batch.data).to(Device::cpu()), batch,
                  std::span(indices).subspan(first));
        first += static_cast<size_t>(batch.size());
    }
    return all;
}

double accuracy_of(const Evaluation& mine, dist::ProcessGroup& group) {
    const Tensor counts = cpu_tensor(std::vector<int64_t>{mine.correct(), mine.seen()});
    group.all_reduce(counts);
    const auto total = counts.to_vector<int64_t>();
    return total[1] == 0 ? 0.0
                         : static_cast<double>(total[0]) / static_cast<double>(total[1]);
}

void merge(Evaluation& all, const Evaluation& other) {
    if (all.confusion.empty())
        all.confusion = other.confusion;
    else
        for (size_t i = 0; i < other.confusion.size(); ++i)
            for (size_t j = 0; j < other.confusion.size(); ++j)
                all.confusion[i][j] += other.confusion[i][j];
    all.mistakes.insert(all.mistakes.end(), other.mistakes.begin(), other.mistakes.end());
    keep_most_confident(all.mistakes);
}

ordered_json json_of(const Evaluation& evaluation) {
    ordered_json mistakes = ordered_json::array();
    for (const Mistake& each : evaluation.mistakes)
        mistakes.push_back({{"index", each.index},
                            {"label", each.label},
                            {"predicted", each.predicted},
                            {"confidence", each.confidence},
                            {"width", each.size.width},
                            {"height", each.size.height},
                            {"channels", each.size.channels},
                            {"pixels", each.pixels}});
    return {{"confusion", evaluation.confusion}, {"mistakes", mistakes}};
}

Evaluation evaluation_of(const ordered_json& json) {
    Evaluation evaluation{.confusion = json.at("confusion"), .mistakes = {}};
    for (const ordered_json& each : json.at("mistakes"))
        evaluation.mistakes.push_back({.index = each.at("index"),
                                       .label = each.at("label"),
                                       .predicted = each.at("predicted"),
                                       .confidence = each.at("confidence"),
                                       .size = {.width = each.at("width"),
                                                .height = each.at("height"),
                                                .channels = each.at("channels")},
                                       .pixels = each.at("pixels")});
    return evaluation;
}

}  // namespace mini::report
