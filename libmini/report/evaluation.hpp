// What a classifier does with the test data: the confusion matrix, and the mistakes of
// which it is most certain.

#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "libmini/data/loader.hpp"
#include "libmini/distributed/group/process_group.hpp"
#include "libmini/nn/module.hpp"
#include "libmini/report/png.hpp"

namespace mini::report {

/// A test image that was given a wrong class.
struct Mistake {
    int64_t index = 0;  // in the test data
    int64_t label = 0;
    int64_t predicted = 0;
    double confidence = 0.0;  // the softmax probability of `predicted`
    PngSize size = {};
    std::vector<uint8_t> pixels;  // (H, W, C), darkest 0 and brightest 255
};

/// The evaluation of some samples.
struct Evaluation {
    std::vector<std::vector<int64_t>> confusion;  // [label][predicted]: samples
    std::vector<Mistake> mistakes;                // the most confident first, none NaN

    int64_t correct() const;
    int64_t seen() const;
};

constexpr size_t kMistakes = 24;  ///< an Evaluation keeps the most confident ones

/// Iterates over `loader` once, in evaluation mode and without recording gradients, and
/// restores the model's mode. `indices` has the index of each sample, in the loader's
/// order. REQUIRES: targets are classes; outputs have shape (N, classes). Data of another
/// shape than (N, C, H, W) with 1 or 3 channels make no images.
Evaluation evaluate(nn::Module& model, data::DataLoader& loader,
                    const std::vector<int64_t>& indices);

/// Returns the share of correct samples over all ranks; blocks until all ranks have
/// called it. Equal to Accuracy::share() of training/accuracy.hpp.
double accuracy_of(const Evaluation& mine, dist::ProcessGroup& group);

/// Adds the samples of `other`.
void merge(Evaluation& all, const Evaluation& other);

/// Returns the text of evaluation.json, as JSON.
nlohmann::ordered_json json_of(const Evaluation& evaluation);

/// Returns the evaluation of json_of(). Throws nlohmann::json::exception.
Evaluation evaluation_of(const nlohmann::ordered_json& json);

}  // namespace mini::report
