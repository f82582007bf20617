// count_correct: the modes of the model. The checks of lab 09 have its counts.

#include "libmini/training/accuracy.hpp"

#include <memory>
#include <vector>

#include "libmini/autograd/node.hpp"
#include "libmini/core/error.hpp"
#include "libmini/data/distributed_eval_sampler.hpp"
#include "libmini/data/tensor_dataset.hpp"
#include "libmini/distributed/launch/launch.hpp"
#include "tests/support/catch.hpp"

using namespace mini;
using training::Accuracy;

namespace {

constexpr int64_t kClasses = 5;

// The model's prediction for sample i, and the target of sample i. They are equal if i
// mod 5 is 0 or 3, so that the ranks have different numbers of correct samples.
int64_t predicted(int64_t i) { return i * i % kClasses; }
int64_t target(int64_t i) { return i * 3 % kClasses; }

std::shared_ptr<const data::Dataset> numbered(int64_t n) {
    std::vector<float> numbers;
    std::vector<int64_t> targets;
    for (int64_t i = 0; i < n; ++i) {
        numbers.push_back(static_cast<float>(i));
        targets.push_back(target(i));
    }
    return std::make_shared<data::TensorDataset>(
        Tensor::from(numbers, {n, 1}, Device::cpu()), cpu_tensor(targets));
}

// The score of sample i is highest for class predicted(i). Records the modes in which it
// was called, and throws at sample `fails_at` (-1: at none).
class Predicting : public nn::Module {
  public:
    Tensor forward(const Tensor& x) override {  // (N, 1)
        trained |= is_training();
        recorded |= is_grad_enabled();
        std::vector<float> scores;
        for (const float number : x.to_vector<float>()) {
            const auto i = static_cast<int64_t>(number);
            if (i == fails_at) throw UsageError("this sample has no picture");
            for (int64_t k = 0; k < kClasses; ++k)
                scores.push_back(k == predicted(i) ? 2.0f : static_cast<float>(k % 2));
        }
        return Tensor::from(scores, {x.size(0), kClasses});
    }

    int64_t fails_at = -1;
    bool trained = false, recorded = false;
};

}  // namespace

TEST_CASE(
    "count_correct records nothing and restores the mode, even if the model throws") {
    Predicting model;
    model.fails_at = GENERATE(-1, 3);
    const bool training = GENERATE(true, false);
    model.train(training);
    bool threw = false, recording = false;
    dist::run_threads(1, [&](dist::ProcessGroup& group) {
        data::DataLoader loader(numbered(5), {.batch_size = 2});
        try {
            (void)training::count_correct(model, loader, group);
        } catch (const UsageError&) {
            threw = true;
        }
        recording = is_grad_enabled();
    });
    CHECK(threw == (model.fails_at == 3));
    CHECK_FALSE(model.trained);
    CHECK_FALSE(model.recorded);
    CHECK(model.is_training() == training);
    CHECK(recording);
}

TEST_CASE("Accuracy::share is 0 without samples and 1/3 for 1 of 3") {
    CHECK(Accuracy{}.share() == 0.0);
    CHECK(Accuracy{.correct = 1, .seen = 3}.share() == 1.0 / 3.0);
    CHECK(Accuracy{.correct = 3, .seen = 3}.share() == 1.0);
}
