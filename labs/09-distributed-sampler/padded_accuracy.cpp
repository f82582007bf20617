// padded_accuracy: the accuracy of one model on one set of test images, with three
// samplers, on 1 to 32 ranks.
//
//     padded_accuracy                         prints the table that measure.py draws
//
// The model is a linear layer trained on 1,280 drawn digits; the ranks are threads of
// this process. The program needs no data files and no network connection.
//
// Exit codes: 0 done, 1 failed, 2 invalid options.

#include <fmt/format.h>
#include <cstdint>
#include <functional>
#include <iostream>
#include <memory>
#include <mutex>
#include <vector>

#include "libmini/autograd/functions.hpp"
#include "libmini/data/distributed_eval_sampler.hpp"
#include "libmini/data/distributed_sampler.hpp"
#include "libmini/data/loader.hpp"
#include "libmini/datasets/digits.hpp"
#include "libmini/distributed/launch/launch.hpp"
#include "libmini/nn/linear.hpp"
#include "libmini/optim/sgd.hpp"
#include "libmini/training/accuracy.hpp"
#include "libmini/training/common_options.hpp"
#include "libmini/training/program.hpp"

namespace {

using namespace mini;

constexpr int64_t kPixels = 28 * 28, kClasses = 10, kTrainingSamples = 1280,
                  kBatchSize = 64;

struct Options {
    int64_t samples = 100;
    int ranks = 32;
};

class Classifier : public nn::Module {
  public:
    Classifier() { register_module("fc", fc_); }
    Tensor forward(const Tensor& x) override { return fc_(flatten(x, 1)); }

  private:
    nn::Linear fc_{kPixels, kClasses};
};

// Trains a classifier for one epoch and returns its state.
nn::NamedTensors train() {
    manual_seed(1234);
    Classifier model;
    optim::SGD optimizer(model.parameters(), {.lr = 0.05});
    data::DataLoader loader(data::make_digits(true, kTrainingSamples),
                            {.batch_size = kBatchSize, .shuffle = true});
    for (const data::Batch& batch : loader) {
        optimizer.zero_grad();
        cross_entropy(model(batch.data), batch.target).backward();
        optimizer.step();
    }
    return model.state_dict();
}

// Makes the sampler of one rank for a dataset of n samples.
using MakeSampler =
    std::function<std::shared_ptr<data::Sampler>(int64_t n, int num_replicas, int rank)>;

std::shared_ptr<data::Sampler> exact(int64_t n, int num_replicas, int rank) {
    return std::make_shared<data::DistributedEvalSampler>(
        n,
        data::DistributedEvalSamplerOptions{.num_replicas = num_replicas, .rank = rank});
}

MakeSampler distributed(bool drop_last) {
    return [drop_last](int64_t n, int num_replicas, int rank) {
        return std::make_shared<data::DistributedSampler>(
            n, data::DistributedSamplerOptions{.num_replicas = num_replicas,
                                               .rank = rank,
                                               .shuffle = false,
                                               .drop_last = drop_last});
    };
}

training::Accuracy evaluate(const std::shared_ptr<const data::Dataset>& dataset,
                            const nn::NamedTensors& state, int ranks,
                            const MakeSampler& make) {
    training::Accuracy result;
    dist::run_threads(ranks, [&](dist::ProcessGroup& group) {
        Classifier model;
        model.load_state_dict(state);
        data::DataLoader loader(dataset,
                                {.batch_size = kBatchSize,
                                 .sampler = make(dataset->size(), ranks, group.rank())});
        const auto accuracy = training::count_correct(model, loader, group);
        if (group.rank() == 0) result = accuracy;
    });
    return result;
}

void run(const Options& options) {
    const nn::NamedTensors state = train();
    const auto dataset = data::make_digits(false, options.samples);
    const std::vector<MakeSampler> ways = {exact, distributed(false), distributed(true)};

    std::cout << "  ranks   DistributedEvalSampler   DistributedSampler    drop_last\n";
    for (int ranks = 1; ranks <= options.ranks; ++ranks) {
        std::cout << fmt::format("  {:5}", ranks);
        for (const MakeSampler& make : ways) {
            const auto accuracy = evaluate(dataset, state, ranks, make);
            std::cout << fmt::format("   {:5} of {:5} {:.4f}", accuracy.correct,
                                     accuracy.seen, accuracy.share());
        }
        std::cout << '\n';
    }
}

}  // namespace

int main(int argc, char** argv) {
    return training::run("padded_accuracy", [&] {
        Options options;
        CommandLine line("The accuracy of one model, by three samplers.",
                         "padded_accuracy");
        training::add_count(line, "--samples", options.samples, "test images");
        training::add_count(line, "--ranks", options.ranks, "largest number of ranks");
        if (line.parse(argc, argv)) run(options);
    });
}
