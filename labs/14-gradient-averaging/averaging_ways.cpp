// averaging_ways: the measurement of lab 14. Compares ways to average: gradients or
// parameters, in each step or less often.
//
//     averaging_ways [RANKS]        4 ranks by default, as threads
//
// Trains the tutorial's ConvNet on 2,000 of the embedded digits in several ways. Prints
// one line of JSON for each: the loss on 1,000 other digits after each epoch, and the
// final loss of rank 0's own model. Replicas that train separately are averaged for the
// test only, and then continue with their own parameters. measure.py draws the losses.

#include <cstdint>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <vector>

#include "labs/14-gradient-averaging/distributed_sgd.hpp"
#include "libmini/autograd/functions.hpp"
#include "libmini/autograd/node.hpp"
#include "libmini/datasets/digits.hpp"
#include "libmini/distributed/launch/launch.hpp"
#include "libmini/extras/use_all.hpp"
#include "libmini/nn/models.hpp"
#include "libmini/optim/sgd.hpp"
#include "libmini/parallel/average_parameters.hpp"
#include "libmini/program/command_line.hpp"
#include "libmini/random/random.hpp"
#include "libmini/training/program.hpp"

using namespace mini;

namespace {

constexpr int64_t kTrain = 2000, kTest = 1000, kEpochs = 12, kBatch = 80;
constexpr double kLr = 0.1;

struct Variant {
    const char* name;
    int ranks;
    double lr = kLr;
    int64_t period = 0;      // local SGD: steps between two averages of parameters
    bool apart = false;      // no averaging while training
    bool same_start = true;  // one seed for all ranks
};

struct Digits {
    std::shared_ptr<data::Dataset> train = data::make_digits(true, kTrain);
    std::shared_ptr<data::Dataset> test = data::make_digits(false, kTest);
};

double test_loss(nn::Module& model, const Digits& digits) {
    const NoGradGuard no_grad;
    data::DataLoader loader(digits.test, {.batch_size = kTest});
    double loss = 0.0;
    for (const data::Batch& batch : loader)
        loss = cross_entropy(model(batch.data), batch.target).item();
    return loss;
}

void train_apart(nn::Module& model, data::DataLoader& loader,
                 optim::Optimizer& optimizer) {
    for (const data::Batch& batch : loader) {
        optimizer.zero_grad();
        cross_entropy(model(batch.data), batch.target).backward();
        optimizer.step();
    }
}

struct Losses {
    std::vector<double>
        after_epoch;   // the loss of the model, or of the mean of the models
    double own = 0.0;  // the final loss of this rank's own model
};

Losses train(const Variant& variant, const Digits& digits, dist::ProcessGroup& group) {
    manual_seed(1 + (variant.same_start ? 0 : static_cast<uint64_t>(group.rank())));
    nn::ConvNet model({.dropout = false}), mean({.dropout = false});
    auto [loader, bsz] = tutorial::partition_dataset(digits.train, kBatch, group);
    optim::SGD optimizer(model.parameters(), {.lr = variant.lr});

    Losses losses;
    for (int64_t epoch = 0; epoch < kEpochs; ++epoch) {
        if (variant.apart)
            train_apart(model, loader, optimizer);
        else if (variant.period > 0)
            tutorial::train_epoch_locally(model, loader, optimizer, group,
                                          variant.period);
        else
            tutorial::train_epoch(model, loader, optimizer, group);
        mean.load_state_dict(model.state_dict());
        parallel::average_parameters(mean, group);
        losses.after_epoch.push_back(test_loss(mean, digits));
    }
    losses.own = test_loss(model, digits);
    return losses;
}

void measure(int ranks) {
    const Digits digits;
    const std::vector<Variant> variants{
        {.name = "one rank, the whole batch", .ranks = 1},
        {.name = "gradients, each step", .ranks = ranks},
        {.name = "sum of gradients: lr times ranks",
         .ranks = ranks,
         .lr = ranks * kLr},  // the sum is `ranks` times the mean
        {.name = "parameters, every 5 steps", .ranks = ranks, .period = 5},
        {.name = "parameters, every epoch", .ranks = ranks, .period = kTrain},
        {.name = "parameters, for the test only", .ranks = ranks, .apart = true},
        {.name = "parameters, different starts",
         .ranks = ranks,
         .apart = true,
         .same_start = false}};
    for (const Variant& variant : variants) {
        Losses losses;
        dist::run_threads(variant.ranks, [&](dist::ProcessGroup& group) {
            const Losses mine = train(variant, digits, group);
            if (group.rank() == 0) losses = mine;
        });
        const nlohmann::ordered_json json = {{"variant", variant.name},
                                             {"ranks", variant.ranks},
                                             {"test_loss", losses.after_epoch},
                                             {"own_loss", losses.own}};
        std::cout << json.dump() << std::endl;
    }
}

}  // namespace

int main(int argc, char** argv) {
    return training::run("averaging_ways", [&] {
        extras::use_all();
        int ranks = 4;
        CommandLine line("Averages gradients or parameters, and compares the results.",
                         "averaging_ways");
        line.add("RANKS", ranks, "number of ranks, as threads").range(2, 64);
        if (line.parse(argc, argv)) measure(ranks);
    });
}
