// A bug hunt: a network of three layers learns to tell two spirals apart, but it cannot:
// the program has three mistakes.
//
//     lab04_bug_hunt
//
// Exit codes: 0 if no mistake is left, else 1.

#include <fmt/format.h>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iostream>
#include <numbers>
#include <string>
#include <vector>

#include "libmini/autograd/functions.hpp"
#include "libmini/nn/dropout.hpp"
#include "libmini/nn/linear.hpp"
#include "libmini/nn/module.hpp"
#include "libmini/optim/sgd.hpp"
#include "libmini/random/random.hpp"
#include "libmini/tensor/ops.hpp"

using namespace mini;

namespace {

constexpr int64_t kPoints = 400;
constexpr int64_t kBatch = 100;
constexpr int kEpochs = 150;
constexpr int64_t kHidden = 32;

class Spirals : public nn::Module {
  public:
    Spirals() {
        register_module("fc1", fc1_);
        register_module("fc2", fc2_);
        register_module("drop", drop_);
        register_module("fc3", fc3_);

        // Begin with small numbers: all scores are near 0, and no class is preferred.
        for (Tensor values : parameters()) {
            const NoGradGuard no_grad;
            ops::fill_(values, 0.05f);
        }
    }
    Tensor forward(const Tensor& x) override {
        return fc3_(drop_(relu(fc2_(relu(fc1_(x))))));
    }

  private:
    nn::Linear fc1_{2, kHidden}, fc2_{kHidden, kHidden}, fc3_{kHidden, 2};
    nn::Dropout drop_{0.2};
};

struct Points {
    Tensor x, target;
};

// Two spirals, one for each class, with a little noise; the classes alternate.
Points make_points(uint64_t seed) {
    Generator generator(seed);
    std::vector<float> noise(2 * kPoints), turn(kPoints), x;
    std::vector<int64_t> target;
    fill_normal(noise, 0, 0.03, generator);
    fill_uniform(turn, 0.2, 1, generator);
    for (size_t i = 0; i < turn.size(); ++i) {
        const auto label = static_cast<int64_t>(i % 2);
        const double angle =
            std::numbers::pi * (1.5 * turn[i] + static_cast<double>(label));
        x.push_back(turn[i] * static_cast<float>(std::cos(angle)) + noise[2 * i]);
        x.push_back(turn[i] * static_cast<float>(std::sin(angle)) + noise[2 * i + 1]);
        target.push_back(label);
    }
    return {Tensor::from(x, {kPoints, 2}), Tensor::from(target)};
}

// Returns the scores of the points, two for each.
std::vector<float> scores_of(nn::Module& model, const Points& points) {
    return model(points.x).to_vector<float>();
}

// Returns the share of the points whose class has the higher score.
double accuracy(const std::vector<float>& scores, const Points& points) {
    const std::vector<int64_t> target = points.target.to_vector<int64_t>();
    int64_t correct = 0;
    for (size_t i = 0; i < target.size(); ++i)
        correct += (scores[2 * i + 1] > scores[2 * i]) == (target[i] == 1);
    return static_cast<double>(correct) / static_cast<double>(kPoints);
}

struct Fitted {
    double first_loss = 0, last_loss = 0;
    bool added_up = false;  // whether a backward pass added to another's gradient
};

// Computes the gradients of `loss`.
void backward(nn::Module& model, const Tensor& loss, Fitted& fitted) {
    if (model.parameters()[0].grad().defined()) fitted.added_up = true;
    loss.backward();
}

Fitted fit(Spirals& model, const Points& points) {
    optim::SGD optimizer(model.parameters(), {.lr = 0.02, .momentum = 0.9});
    Fitted fitted;
    for (int epoch = 0; epoch < kEpochs; ++epoch) {
        optimizer.zero_grad();
        double sum = 0;
        for (int64_t begin = 0; begin < kPoints; begin += kBatch) {
            const Tensor x = narrow(points.x, 0, begin, kBatch);
            const Tensor target = narrow(points.target, 0, begin, kBatch);
            const Tensor loss = cross_entropy(model(x), target);
            backward(model, loss, fitted);
            optimizer.step();
            sum += loss.item();
        }
        const double mean = sum * static_cast<double>(kBatch) / kPoints;
        if (epoch == 0) fitted.first_loss = mean;
        fitted.last_loss = mean;
    }
    return fitted;
}

// Returns the program's complaint about the training, or "" if it was right. `first` and
// `second`: the scores of the test points, measured twice.
std::string complaint_about(Spirals& model, const Fitted& fitted,
                            const std::vector<float>& first,
                            const std::vector<float>& second, double share) {
    if (first != second) return "the same model gives the same points other scores";
    if (!model.is_training())
        return "after the evaluation the model must be in training mode again";
    if (fitted.added_up) return "a step used the gradients of more than its own batch";
    if (model.parameters().size() != 6) return "the model must have six parameters";
    return share < 0.9 ? "the accuracy is below 0.9" : "";
}

}  // namespace

int main() {
    manual_seed(2);
    Spirals model;
    const Points training = make_points(3), test = make_points(4);
    const Fitted fitted = fit(model, training);
    const std::vector<float> first = scores_of(model, test),
                             second = scores_of(model, test);
    const double share = accuracy(first, test);
    std::cout << fmt::format(
        "loss {:.4f} -> {:.4f}\ntest accuracy {:.4f}, again {:.4f}\n", fitted.first_loss,
        fitted.last_loss, share, accuracy(second, test));
    const std::string complaint = complaint_about(model, fitted, first, second, share);
    std::cout << (complaint.empty() ? "no mistake is left" : complaint) << '\n';
    return complaint.empty() ? 0 : 1;
}
