// fit_digits: trains the network of two linear layers on the drawn digits, in one
// process. The program needs no data files and no network connection.
//
//     fit_digits --epochs 5
//
// Exit codes: 0 done, 1 failed, 2 invalid options.

#include <fmt/format.h>
#include <cstdint>
#include <iostream>

#include "labs/04-modules-losses-sgd/fit.hpp"
#include "libmini/datasets/digits.hpp"
#include "libmini/optim/sgd.hpp"
#include "libmini/training/common_options.hpp"
#include "libmini/training/program.hpp"

namespace {

using namespace mini;

constexpr int64_t kPixels = 28 * 28, kClasses = 10, kTestImages = 2000;

struct Options {
    int64_t epochs = 5;
    int64_t images = 6000;
    int64_t batch_size = 64;
    double lr = 0.05;
    double momentum = 0.9;
    double weight_decay = 0.0;
    double dropout = 0.2;
    uint64_t seed = 1234;
};

void run(const Options& options) {
    manual_seed(options.seed);
    fit::TwoLayers model(kPixels, 64, kClasses, options.dropout);
    optim::SGD optimizer(model.parameters(), {.lr = options.lr,
                                              .momentum = options.momentum,
                                              .weight_decay = options.weight_decay});
    data::DataLoader training(data::make_digits(true, options.images),
                              {.batch_size = options.batch_size, .shuffle = true});
    data::DataLoader test(data::make_digits(false, kTestImages), {.batch_size = 500});
    for (const auto& [name, parameter] : model.named_parameters())
        std::cout << fmt::format("{:12} {} numbers\n", name, parameter.numel());
    for (int64_t epoch = 1; epoch <= options.epochs; ++epoch) {
        const double loss = fit::train_epoch(model, training, optimizer);
        std::cout << fmt::format("epoch {}   loss {:.4f}   test accuracy {:.4f}\n", epoch,
                                 loss, fit::accuracy(model, test))
                  << std::flush;
    }
}

}  // namespace

int main(int argc, char** argv) {
    return training::run("fit_digits", [&] {
        Options options;
        CommandLine line("Trains two linear layers on drawn digits.", "fit_digits");
        training::add_count(line, "--epochs", options.epochs, "passes over the data");
        training::add_count(line, "--images", options.images, "training images");
        training::add_count(line, "--batch-size", options.batch_size, "images per step");
        line.add("--lr", options.lr, "learning rate");
        line.add("--momentum", options.momentum, "momentum of SGD");
        line.add("--weight-decay", options.weight_decay, "weight decay of SGD");
        line.add("--dropout", options.dropout, "probability of dropout");
        line.add("--seed", options.seed, "of the weights, the order and dropout");
        if (line.parse(argc, argv)) run(options);
    });
}
