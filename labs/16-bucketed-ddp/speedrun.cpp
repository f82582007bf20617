// speedrun: trains MNIST to 99 % of the test images, in as few seconds as possible.
//
//     minirun -n 2 speedrun                one training
//     minirun -n 2 speedrun --seeds 30     the mean and the spread of 30 trainings
//
// Kernels, DDP and optimizer are those of train_mnist; network, loss, batch and learning
// rate are not. docs/pages/speedrun.md measures what each part of the recipe gives.
//
// The seconds are those of the training alone, from the start of all ranks to the end of
// all ranks, as in train_mnist. Reading the files and testing are not included.
//
// Exit codes: 0 done, 1 failed, 2 invalid options.

#include <fmt/format.h>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <iostream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "libmini/autograd/functions.hpp"
#include "libmini/data/distributed_sampler.hpp"
#include "libmini/data/loader.hpp"
#include "libmini/datasets/locate.hpp"
#include "libmini/distributed/launch/default_group.hpp"
#include "libmini/extras/use_all.hpp"
#include "libmini/nn/conv.hpp"
#include "libmini/nn/linear.hpp"
#include "libmini/nn/norm.hpp"
#include "libmini/optim/sgd.hpp"
#include "libmini/parallel/average_parameters.hpp"
#include "libmini/parallel/ddp.hpp"
#include "libmini/random/random.hpp"
#include "libmini/training/accuracy.hpp"
#include "libmini/training/common_options.hpp"
#include "libmini/training/parts.hpp"
#include "libmini/training/program.hpp"

namespace {

using namespace mini;

struct Options {
    std::string data;
    int64_t seeds = 1;
    uint64_t seed = 1;
    double epochs = 0.7;
    int64_t batch_size = 32;  // of all ranks together
    double lr = 0.15;         // the highest rate
    double momentum = 0.9;
    double smoothing = 0.1;
    double warmup = 0.3;  // the part of the steps in which the rate rises
    int64_t channels = 30;
    int64_t hidden = 0;
    bool batch_norm = true;
};

/// The tutorial's ConvNet with batch normalisation after each pooling, where an image has
/// a quarter of the values, with other widths, and without dropout:
///
///     (N, 1, 28, 28)  conv 1-10 k5          -> (N, 10, 24, 24)
///                     max-pool 2, norm      -> (N, 10, 12, 12)  relu
///                     conv 10-channels k5   -> (N, channels, 8, 8)
///                     max-pool 2, norm      -> (N, channels, 4, 4)  relu
///                     linear to `hidden`, relu, unless hidden is 0; linear to 10
class Network : public nn::Module {
  public:
    explicit Network(const Options& options)
        : conv1_(1, 10, 5, {.bias = !options.batch_norm}),
          conv2_(10, options.channels, 5, {.bias = !options.batch_norm}),
          norm1_(10),
          norm2_(options.channels),
          features_(16 * options.channels),
          hidden_(options.hidden > 0
                      ? std::make_unique<nn::Linear>(features_, options.hidden)
                      : nullptr),
          scores_(hidden_ ? options.hidden : features_, 10),
          has_norm_(options.batch_norm) {
        register_module("conv1", conv1_);
        register_module("conv2", conv2_);
        if (has_norm_) register_module("norm1", norm1_);
        if (has_norm_) register_module("norm2", norm2_);
        if (hidden_) register_module("hidden", *hidden_);
        register_module("scores", scores_);
    }

    Tensor forward(const Tensor& x) override {
        Tensor y = max_pool2d(conv1_(x), 2);
        y = relu(has_norm_ ? norm1_(y) : y);
        y = max_pool2d(conv2_(y), 2);
        y = view(relu(has_norm_ ? norm2_(y) : y), {-1, features_});
        return scores_(hidden_ ? relu((*hidden_)(y)) : y);
    }

  private:
    nn::Conv2d conv1_, conv2_;
    nn::BatchNorm2d norm1_, norm2_;
    int64_t features_;
    std::unique_ptr<nn::Linear> hidden_;  // null if the options have no hidden layer
    nn::Linear scores_;
    bool has_norm_;
};

// The rate of step k of n, in parts of the highest: rises from 0 during the warmup, and
// falls to 0 at the end, both linearly.
double rate(double k, double n, double warmup) {
    const double rising = (k + 0.5) / (warmup * n);
    const double falling = (n - k - 0.5) / ((1 - warmup) * n);
    return std::min(rising, falling);
}

struct Result {
    double accuracy, seconds;
};

class Run {
  public:
    Run(const Options& options, std::shared_ptr<dist::ProcessGroup> group)
        : options_(options), group_(std::move(group)) {
        training::on_all_ranks(*group_, [&] {
            const data::DataChoice choice = data::find_data(options_.data);
            if (group_->rank() == 0) std::cout << "data: " << choice.description << "\n";
            data_ = training::load_data(choice);
        });
    }

    // Trains a new network; blocks until all ranks have trained and tested it.
    Result train(uint64_t seed) {
        manual_seed(seed);
        Network network(options_);
        // Each rank normalises its own part of a batch. So do not broadcast the running
        // moments in each step; average them at the end.
        parallel::DistributedDataParallel ddp(network, {.broadcast_buffers = false});
        group_->barrier();
        const auto start = std::chrono::steady_clock::now();
        train_steps(ddp, seed);
        parallel::average_parameters(network, *group_);
        group_->barrier();
        const std::chrono::duration<double> elapsed =
            std::chrono::steady_clock::now() - start;
        auto test = training::test_loader(data_, group_->rank(), group_->world_size());
        return {training::count_correct(network, test, *group_).share(), elapsed.count()};
    }

  private:
    void train_steps(nn::Module& ddp, uint64_t seed) {
        optim::SGD sgd(
            ddp.parameters(),
            {.lr = options_.lr, .momentum = options_.momentum, .nesterov = true});
        data::DataLoader loader(
            data_.train,
            {.batch_size = options_.batch_size / group_->world_size(),
             .sampler = std::make_shared<data::DistributedSampler>(
                 *data_.train,
                 data::DistributedSamplerOptions{.num_replicas = group_->world_size(),
                                                 .rank = group_->rank(),
                                                 .seed = seed}),
             .drop_last = true});
        const auto steps =
            static_cast<int64_t>(options_.epochs * static_cast<double>(loader.size()));
        for (int64_t step = 0; step < steps;) {
            loader.set_epoch(step / loader.size());
            auto batches = loader.epoch();
            while (step < steps) {
                const auto batch = batches.next();
                if (!batch) break;
                sgd.set_lr(options_.lr * rate(static_cast<double>(step++),
                                              static_cast<double>(steps),
                                              options_.warmup));
                sgd.zero_grad();
                loss(ddp(batch->data), batch->target).backward();
                sgd.step();
            }
        }
    }

    // Cross-entropy with smoothed labels (Szegedy et al. 2016): the target gets
    // 1 - smoothing, and each of the 10 classes smoothing / 10.
    Tensor loss(const Tensor& scores, const Tensor& target) const {
        const Tensor log_probabilities = log_softmax(scores);
        const auto smoothing = static_cast<float>(options_.smoothing);
        return nll_loss(log_probabilities, target) * (1 - smoothing) -
               mean(log_probabilities) * smoothing;
    }

    Options options_;
    std::shared_ptr<dist::ProcessGroup> group_;
    training::JobData data_;
};

// Returns the mean and the standard deviation of n > 1 numbers; of one number, 0.
std::pair<double, double> mean_and_deviation(const std::vector<double>& values) {
    const auto n = static_cast<double>(values.size());
    double sum = 0.0, squares = 0.0;
    for (const double value : values) sum += value;
    for (const double value : values) squares += (value - sum / n) * (value - sum / n);
    return {sum / n, n > 1 ? std::sqrt(squares / (n - 1)) : 0.0};
}

void run(const Options& options) {
    const auto group = training::join_group();
    training::check_batch_size(options.batch_size, group->world_size());
    Run run(options, group);
    std::vector<double> accuracies, seconds;
    for (uint64_t seed = options.seed; std::ssize(seconds) < options.seeds; ++seed) {
        const Result result = run.train(seed);
        accuracies.push_back(result.accuracy);
        seconds.push_back(result.seconds);
        if (group->rank() == 0)
            std::cout << fmt::format("seed {:4}   test accuracy {:.4f}   {:.2f} s\n",
                                     seed, result.accuracy, result.seconds)
                      << std::flush;
    }
    const auto [accuracy, spread] = mean_and_deviation(accuracies);
    std::sort(seconds.begin(), seconds.end());
    if (group->rank() == 0)
        std::cout << fmt::format(
            "{} seeds: mean accuracy {:.5f}, deviation {:.5f}, median {:.2f} s\n",
            seconds.size(), accuracy, spread, seconds[seconds.size() / 2]);
    dist::destroy_process_group();
}

}  // namespace

int main(int argc, char** argv) {
    return training::run("speedrun", [&] {
        Options options;
        CommandLine line("Trains MNIST to 99 % in few seconds.", "speedrun");
        line.add("--data", options.data, "folder of MNIST's files, or digits");
        training::add_count(line, "--seeds", options.seeds, "trainings");
        line.add("--seed", options.seed, "of the first training");
        line.add("--epochs", options.epochs, "passes over the data").range(0.01, 100);
        training::add_count(line, "--batch-size", options.batch_size,
                            "images per step, of all ranks");
        line.add("--lr", options.lr, "highest learning rate");
        line.add("--momentum", options.momentum, "of SGD, with Nesterov's step")
            .range(0.01, 0.99);
        line.add("--label-smoothing", options.smoothing, "of the loss").range(0, 0.9);
        line.add("--warmup", options.warmup, "part of the steps with a rising rate")
            .range(0.01, 0.99);
        training::add_count(line, "--channels", options.channels, "of conv2");
        line.add("--hidden", options.hidden, "width of a hidden layer").range(0, 4096);
        line.add_flag("!--no-batch-norm", options.batch_norm,
                      "train without batch normalisation");
        if (!line.parse(argc, argv)) return;
        extras::use_all();
        run(options);
    });
}
