// The options of a training job on MNIST: the command line of train_mnist.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "libmini/program/command_line.hpp"

namespace mini::training {

constexpr int64_t kDefaultEpochs = 3;  ///< if neither --epochs nor --steps is given
constexpr double kAdamLr = 0.001;      ///< default of --lr for Adam and AdamW

struct Options {
    std::string data;          // a folder, "digits", or empty: see data::locate
    int64_t epochs = 0;        // 0: kDefaultEpochs, or as many epochs as --steps needs
    int64_t steps = 0;         // stop after this many steps; 0: no limit
    int64_t batch_size = 128;  // of all ranks together
    double lr = 0.01;
    double momentum = 0.5;          // of SGD
    std::string optimizer = "sgd";  // or adam, adamw
    bool zero = false;
    std::string scheduler = "none";  // or step, cosine, warmup
    uint64_t seed = 1234;
    std::string sync = "ddp";  // or none, average, flat, overlap
    double bucket_cap_mb = 25.0;
    std::string compress = "none";          // or fp16, bf16, powersgd, topk
    int64_t matrix_approximation_rank = 2;  // of PowerSGD
    int64_t start_powerSGD_iter = 20;
    double compress_ratio = 0.01;  // of top-k
    bool error_feedback = true;    // of PowerSGD and top-k
    std::string link;
    std::string backend = "ring";  // or threads, gloo, mpi
    int ranks = 2;                 // only with backend threads
    double timeout = 300;          // seconds that a rank waits for another rank
    std::string device = "cpu";
    int threads = 1;
    int workers = 1;
    bool dropout = true;
    std::string rounding = "fused";     // or separate: of random numbers, without AVX2
    std::string order = "sampler";      // shuffled again each epoch; or file
    std::string partition = "sampler";  // or tutorial: how samples go to ranks
    std::string checkpoint;             // a folder, or empty
    int keep = 3;
    int64_t every = 0;  // steps between checkpoints; 0: one epoch
    bool fresh = false;
    std::string save;
    std::string logdir;  // a folder, or empty
    bool plain = false;
    bool json = false;

    /// The names and values of all options, for the run's log.
    std::vector<std::pair<std::string, std::string>> values;
};

/// Returns the options of the command line. If help was requested, prints the help and
/// returns std::nullopt. Throws UsageError with one line that describes the error and how
/// to get help.
std::optional<Options> parse_options(int argc, char** argv);

}  // namespace mini::training
