#include "labs/04-modules-losses-sgd/fit.hpp"

#include <algorithm>
#include <cstddef>
#include <span>

#include "libmini/autograd/functions.hpp"

// [lab04 file]
namespace fit {

using mini::Tensor, mini::data::Batch, mini::data::DataLoader;

namespace {

// Returns how many rows of `scores` (N, classes) have their maximum at the row's target.
int64_t count_correct(const Tensor& scores, const Tensor& target) {
    const std::span<const float> values = scores.span<float>();
    const std::span<const int64_t> targets = target.span<int64_t>();
    const auto classes = static_cast<size_t>(scores.size(1));
    int64_t correct = 0;
    for (size_t i = 0; i < targets.size(); ++i) {
        const auto row = values.subspan(i * classes, classes);
        correct += std::ranges::max_element(row) - row.begin() == targets[i];
    }
    return correct;
}

}  // namespace

TwoLayers::TwoLayers(int64_t inputs, int64_t hidden, int64_t classes, double p)
    : fc1_(inputs, hidden), fc2_(hidden, classes), drop_(p) {
    // [lab04.6] Register the modules, in the order in which forward uses them.
    register_module("fc1", fc1_);
    register_module("drop", drop_);
    register_module("fc2", fc2_);
    // [lab04.6]
}

Tensor TwoLayers::forward(const Tensor& x) {
    // [lab04.6] Compute the class scores.
    return fc2_(drop_(mini::relu(fc1_(mini::flatten(x, 1)))));
    // [lab04.6]
}

double train_epoch(mini::nn::Module& model, DataLoader& loader,
                   mini::optim::Optimizer& optimizer) {
    double sum = 0.0;    // of the losses of all samples
    double samples = 0;  // so far
    // [lab04.6] Make one step for each batch.
    model.train();
    for (const Batch& batch : loader) {
        optimizer.zero_grad();
        const Tensor loss = mini::cross_entropy(model(batch.data), batch.target);
        loss.backward();
        optimizer.step();
        sum += loss.item() * static_cast<double>(batch.size());
        samples += static_cast<double>(batch.size());
    }
    // [lab04.6]
    return sum / samples;
}

double accuracy(mini::nn::Module& model, DataLoader& loader) {
    double correct = 0;
    double samples = 0;
    // [lab04.6] Count the correct samples in evaluation mode, then restore the mode.
    const bool was_training = model.is_training();
    model.eval();
    for (const Batch& batch : loader) {
        correct += static_cast<double>(count_correct(model(batch.data), batch.target));
        samples += static_cast<double>(batch.size());
    }
    model.train(was_training);
    // [lab04.6]
    return correct / samples;
}

}  // namespace fit
// [lab04 file]
