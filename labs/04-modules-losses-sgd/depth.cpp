// depth: how the size of the activations changes from layer to layer of a deep network,
// with four initialisations of its weights.
//
//     depth                  prints the table that measure.py draws
//
// Exit codes: 0 done, 1 failed, 2 invalid options.

#include <fmt/format.h>
#include <cmath>
#include <cstdint>
#include <functional>
#include <iostream>
#include <string>
#include <vector>

#include "libmini/autograd/functions.hpp"
#include "libmini/nn/init.hpp"
#include "libmini/training/common_options.hpp"
#include "libmini/training/program.hpp"

namespace {

using namespace mini;

struct Options {
    int layers = 20;
    int64_t width = 256;
    int64_t batch = 256;
    uint64_t seed = 1;
};

struct Initialisation {
    std::string name;
    std::function<void(Tensor& weight)> fill;
};

double rms(const Tensor& x) {
    double sum = 0;
    const std::vector<float> values = x.to_vector<float>();
    for (const double value : values) sum += value * value;
    return std::sqrt(sum / static_cast<double>(values.size()));
}

// Passes random numbers through `layers` linear layers without biases, each with a ReLU.
// Returns the size of the numbers after each layer.
std::vector<double> sizes(const Options& options, const Initialisation& initialisation) {
    manual_seed(options.seed);
    Tensor x = Tensor::empty({options.batch, options.width});
    nn::init::normal_(x, 0, 1);
    std::vector<double> sizes;
    for (int layer = 0; layer < options.layers; ++layer) {
        Tensor weight = Tensor::empty({options.width, options.width});
        initialisation.fill(weight);
        x = relu(linear(x, weight, Tensor()));
        sizes.push_back(rms(x));
    }
    return sizes;
}

void run(const Options& options) {
    namespace init = nn::init;
    const std::vector<Initialisation> initialisations = {
        {"normal, std 0.1", [](Tensor& weight) { init::normal_(weight, 0, 0.1); }},
        {"Kaiming for ReLU",
         [](Tensor& weight) {
             init::kaiming_uniform_(weight, {.nonlinearity = init::Nonlinearity::kRelu});
         }},
        {"Xavier", [](Tensor& weight) { init::xavier_uniform_(weight); }},
        {"nn::Linear's own",
         [](Tensor& weight) {
             Tensor none;
             init::reset_parameters(weight, none);
         }},
    };
    std::vector<std::vector<double>> columns;
    std::cout << "layer";
    for (const Initialisation& initialisation : initialisations) {
        columns.push_back(sizes(options, initialisation));
        std::cout << fmt::format("  {:>16}", initialisation.name);
    }
    std::cout << '\n';
    for (size_t layer = 0; layer < static_cast<size_t>(options.layers); ++layer) {
        std::cout << fmt::format("{:5}", layer + 1);
        for (const auto& column : columns)
            std::cout << fmt::format("  {:16.3e}", column[layer]);
        std::cout << '\n';
    }
}

}  // namespace

int main(int argc, char** argv) {
    return training::run("depth", [&] {
        Options options;
        CommandLine line("Prints the size of activations by layer.", "depth");
        training::add_count(line, "--layers", options.layers, "linear layers");
        training::add_count(line, "--width", options.width, "numbers in a layer");
        training::add_count(line, "--batch", options.batch, "rows");
        line.add("--seed", options.seed, "of the weights and the input");
        if (line.parse(argc, argv)) run(options);
    });
}
