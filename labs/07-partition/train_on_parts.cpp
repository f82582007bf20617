#include "labs/07-partition/train_on_parts.hpp"

#include <cstdint>
#include <memory>
#include <numeric>

#include "libmini/autograd/functions.hpp"
#include "libmini/autograd/node.hpp"
#include "libmini/data/loader.hpp"
#include "libmini/distributed/launch/launch.hpp"
#include "libmini/nn/linear.hpp"
#include "libmini/nn/norm.hpp"
#include "libmini/optim/sgd.hpp"
#include "libmini/random/random.hpp"
#include "libmini/tensor/ops.hpp"

namespace mini::labs {
namespace {

constexpr int64_t kPixels = 28 * 28, kHidden = 64, kClasses = 10;
constexpr int64_t kBatch = 20;  // per rank
constexpr double kLr = 0.1;

class Classifier : public nn::Module {
  public:
    explicit Classifier(bool batch_norm) : batch_norm_(batch_norm) {
        register_module("first", first_);
        register_module("norm", norm_);
        register_module("last", last_);
    }
    Tensor forward(const Tensor& x) override {
        const Tensor hidden = first_(flatten(x, 1));
        return last_(relu(batch_norm_ ? norm_(hidden) : hidden));
    }

  private:
    nn::Linear first_{kPixels, kHidden};
    nn::BatchNorm1d norm_{kHidden};
    nn::Linear last_{kHidden, kClasses};
    bool batch_norm_;
};

void average(const std::vector<Tensor>& tensors, dist::ProcessGroup& group) {
    const NoGradGuard no_grad;
    for (const Tensor& tensor : tensors) group.all_reduce(tensor, dist::ReduceOp::kAvg);
}

double test_accuracy(nn::Module& model, const data::Dataset& test) {
    const NoGradGuard no_grad;
    std::vector<int64_t> all(static_cast<size_t>(test.size()));
    std::iota(all.begin(), all.end(), int64_t{0});
    const data::Batch batch = test.get_batch(all);
    model.eval();
    const auto predicted = ops::argmax(model(batch.data)).to_vector<int64_t>();
    model.train();
    const auto target = batch.target.to_vector<int64_t>();
    int64_t correct = 0;
    for (size_t i = 0; i < target.size(); ++i) correct += predicted[i] == target[i];
    return static_cast<double>(correct) / static_cast<double>(test.size());
}

void train_epoch(const Variant& variant, Classifier& model, data::DataLoader& loader,
                 optim::Optimizer& optimizer, dist::ProcessGroup& group) {
    for (const data::Batch& batch : loader) {
        optimizer.zero_grad();
        cross_entropy(model(batch.data), batch.target).backward();
        std::vector<Tensor> gradients;
        for (const Tensor& parameter : model.parameters())
            if (parameter.grad().defined()) gradients.push_back(parameter.grad());
        if (!variant.each_epoch) average(gradients, group);
        optimizer.step();
    }
    if (variant.each_epoch) average(model.parameters(), group);
}

}  // namespace

std::vector<double> train_on_parts(const Variant& variant,
                                   const std::vector<data::Partition>& parts, int epochs,
                                   const data::Dataset& test) {
    std::vector<double> mean(static_cast<size_t>(epochs));
    dist::run_threads(static_cast<int>(parts.size()), [&](dist::ProcessGroup& group) {
        manual_seed(1);  // the same initial weights on all ranks
        Classifier model(variant.batch_norm);
        optim::SGD optimizer(model.parameters(), {.lr = kLr});
        const auto& part = parts[static_cast<size_t>(group.rank())];
        data::DataLoader loader(std::make_shared<data::Partition>(part),
                                {.batch_size = kBatch, .shuffle = true});
        for (double& accuracy : mean) {
            train_epoch(variant, model, loader, optimizer, group);
            const auto own = static_cast<float>(test_accuracy(model, test));
            const Tensor shared = Tensor::scalar(own);
            group.all_reduce(shared, dist::ReduceOp::kAvg);
            if (group.rank() == 0) accuracy = shared.item();
        }
    });
    return mean;
}

}  // namespace mini::labs
