// The command line of train_mnist.

#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace train_mnist {

constexpr int64_t kDefaultEpochs = 3;
constexpr double kAdamLr = 0.001;

struct Options {
    std::string data;          // a folder, "digits", or empty: see mini::data::locate
    int64_t epochs = 0;        // 0: kDefaultEpochs, or as many as the steps need
    int64_t steps = 0;         // stop after so many; 0: do not
    int64_t batch_size = 128;  // of all ranks together
    double lr = 0.01;
    double momentum = 0.5;  // of SGD
    std::string optimizer = "sgd";
    bool zero = false;
    std::string scheduler = "none";
    uint64_t seed = 1234;
    std::string sync = "ddp";
    double bucket_cap_mb = 25.0;
    std::string compress = "none";
    std::string link;
    std::string backend = "ring";
    int ranks = 2;  // with backend threads
    std::string device = "cpu";
    bool graph = false;
    int threads = 1;
    int workers = 1;
    bool dropout = true;
    std::string streams = "torch";
    std::string rounding = "fused";
    std::string order = "sampler";
    std::string partition = "sampler";
    std::string checkpoint;  // a folder, or empty
    int keep = 3;
    int64_t every = 0;  // steps; 0: an epoch
    bool fresh = false;
    std::string save;
    bool json = false;
};

/// The options given, or nothing when the help was asked for and has been printed. Throws
/// UsageError, one line that says what is wrong and where help is.
std::optional<Options> parse_options(int argc, char** argv);

}  // namespace train_mnist
