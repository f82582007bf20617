// The options of a training job on MNIST: the command line of train_mnist.

#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "libmini/program/command_line.hpp"
#include "libmini/random/random.hpp"

namespace mini::training {

constexpr int64_t kDefaultEpochs = 3;  ///< if neither --epochs nor --steps is given
constexpr double kAdamLr = 0.001;      ///< default of --lr for Adam and AdamW

/// The optimizer.
enum class OptimizerKind { kSGD, kAdam, kAdamW };
/// The words of --optimizer on the command line.
inline constexpr std::array kOptimizers{
    Choice{"sgd", OptimizerKind::kSGD},
    Choice{"adam", OptimizerKind::kAdam},
    Choice{"adamw", OptimizerKind::kAdamW},
};

/// How the learning rate changes from epoch to epoch.
enum class Schedule { kConstant, kStep, kCosine, kWarmup };
inline constexpr std::array kSchedules{
    Choice{"none", Schedule::kConstant},
    Choice{"step", Schedule::kStep},
    Choice{"cosine", Schedule::kCosine},
    Choice{"warmup", Schedule::kWarmup},
};

/// How the ranks average their gradients.
enum class Sync { kNone, kAverage, kFlat, kOverlap, kDDP };
inline constexpr std::array kSyncs{
    Choice{"none", Sync::kNone}, Choice{"average", Sync::kAverage},
    Choice{"flat", Sync::kFlat}, Choice{"overlap", Sync::kOverlap},
    Choice{"ddp", Sync::kDDP},
};

/// The compression of DDP's buckets.
enum class Compression { kNone, kFP16, kBF16, kPowerSGD, kTopK };
inline constexpr std::array kCompressions{
    Choice{"none", Compression::kNone}, Choice{"fp16", Compression::kFP16},
    Choice{"bf16", Compression::kBF16}, Choice{"powersgd", Compression::kPowerSGD},
    Choice{"topk", Compression::kTopK},
};

/// How the ranks connect and communicate.
enum class BackendKind { kRing, kThreads, kGloo, kMPI };
inline constexpr std::array kBackends{
    Choice{"ring", BackendKind::kRing},
    Choice{"threads", BackendKind::kThreads},
    Choice{"gloo", BackendKind::kGloo},
    Choice{"mpi", BackendKind::kMPI},
};

/// The rounding of random numbers: as PyTorch with AVX2 (fused), or without AVX2.
inline constexpr std::array kRoundings{
    Choice{"fused", Rounding::kFused},
    Choice{"separate", Rounding::kSeparate},
};

/// The sample order: shuffled again each epoch, or file order.
enum class SampleOrder { kSampler, kFile };
inline constexpr std::array kSampleOrders{
    Choice{"sampler", SampleOrder::kSampler},
    Choice{"file", SampleOrder::kFile},
};

/// How samples are assigned to ranks.
enum class Partitioning { kSampler, kTutorial };
inline constexpr std::array kPartitionings{
    Choice{"sampler", Partitioning::kSampler},
    Choice{"tutorial", Partitioning::kTutorial},
};

struct Options {
    std::string data;          // a folder, "digits", or empty: see data::locate
    int64_t epochs = 0;        // 0: kDefaultEpochs, or as many epochs as --steps needs
    int64_t steps = 0;         // stop after this many steps; 0: no limit
    int64_t batch_size = 128;  // of all ranks together
    double lr = 0.01;
    double momentum = 0.5;  // of SGD
    OptimizerKind optimizer = OptimizerKind::kSGD;
    bool zero = false;
    Schedule scheduler = Schedule::kConstant;
    uint64_t seed = 1234;
    Sync sync = Sync::kDDP;
    double bucket_cap_mb = 25.0;
    Compression compress = Compression::kNone;
    int64_t matrix_approximation_rank = 2;  // of PowerSGD
    int64_t start_powerSGD_iter = 20;
    double compress_ratio = 0.01;  // of top-k
    bool error_feedback = true;    // of PowerSGD and top-k
    std::string link;
    BackendKind backend = BackendKind::kRing;
    int ranks = 2;         // only with backend threads
    double timeout = 300;  // seconds that a rank waits for another rank
    std::string device = "cpu";
    int threads = 1;
    int workers = 1;
    bool dropout = true;
    Rounding rounding = Rounding::kFused;
    SampleOrder order = SampleOrder::kSampler;
    Partitioning partition = Partitioning::kSampler;
    std::string checkpoint;  // a folder, or empty
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
