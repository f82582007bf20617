#include "libmini/training/options.hpp"

#include <fmt/format.h>

#include <cmath>

#include "libmini/core/error.hpp"
#include "libmini/tensor/device.hpp"
#include "libmini/training/common_options.hpp"

namespace mini::training {
namespace {

void add_job_options(CommandLine& line, Options& options) {
    line.add("--data", options.data,
             "MNIST's folder, or \"digits\" for the embedded digits; by default the\n"
             "first that exists of $MINI_DATA_DIR/mnist, data/mnist and the digits")
        .type_name("DIR");
    line.add("--epochs", options.epochs,
             "passes over the training data, or as many as --steps needs")
        .type_name("N")
        .default_text(std::to_string(kDefaultEpochs))
        .at_least(1);
    line.add("--steps", options.steps, "stop after this many steps in total")
        .type_name("N")
        .default_text("")
        .at_least(1);
    line.add("--batch-size", options.batch_size,
             "samples per step, of all ranks together")
        .type_name("N")
        .at_least(1);
    line.add("--seed", options.seed, "of initial weights, dropout and order")
        .type_name("N");
    line.add_flag("!--no-dropout", options.dropout, "train without dropout");
    line.add("--rounding", options.rounding, kRoundings,
             "draw the same numbers as PyTorch with AVX2, or without AVX2");
    line.add("--order", options.order, kSampleOrders,
             "samples shuffled again each epoch, or in file order");
    line.add("--partition", options.partition, kPartitionings,
             "samples of each rank: from DistributedSampler, or from the tutorial's\n"
             "DataPartitioner, then shuffled within each rank");
}

void add_optimizer_options(CommandLine& line, Options& options) {
    line.add("--optimizer", options.optimizer, kOptimizers, "the optimizer");
    line.add("--lr", options.lr,
             fmt::format("learning rate; {} for Adam and AdamW", kAdamLr))
        .type_name("X");
    line.add("--momentum", options.momentum, "momentum of SGD").type_name("X");
    line.add("--scheduler", options.scheduler, kSchedules,
             "the learning rate is constant; is multiplied by 0.7 after each epoch;\n"
             "falls to 0 along a cosine; or rises from a third in five epochs");
    line.add_flag("--zero", options.zero, "shard the optimizer's state over the ranks");
}

void add_checkpoint_options(CommandLine& line, Options& options) {
    const Option checkpoint =
        line.add("--checkpoint", options.checkpoint,
                 "save checkpoints here, and resume from the newest one")
            .type_name("DIR");
    line.add("--every", options.every,
             "save every N steps, instead of each epoch, and at the end")
        .type_name("N")
        .default_text("")
        .at_least(1)
        .needs(checkpoint);
    line.add("--keep", options.keep, "how many checkpoints to keep")
        .type_name("N")
        .range(1, 1 << 20)
        .needs(checkpoint);
    line.add_flag("--fresh", options.fresh,
                  "remove existing checkpoints, and start from the beginning")
        .needs(checkpoint);
}

void add_gradient_options(CommandLine& line, Options& options) {
    line.add(
        "--sync", options.sync, kSyncs,
        "gradients are not averaged; or by one all-reduce per parameter after\n"
        "backward; by a single one; by one per parameter during backward; in buckets");
    line.add("--bucket-cap-mb", options.bucket_cap_mb, "size of DDP's buckets in MiB")
        .type_name("X");
    line.add("--compress", options.compress, kCompressions,
             "how DDP's buckets are sent: uncompressed, as 16-bit floats, as products\n"
             "of thin matrices, or only the largest gradients");
    line.add("--matrix-approximation-rank", options.matrix_approximation_rank,
             "columns of PowerSGD's thin matrices")
        .type_name("N")
        .range(1, 1024);
    line.add("--start-powersgd-iter", options.start_powerSGD_iter,
             "steps before PowerSGD compresses")
        .type_name("N")
        .at_least(2);
    line.add("--compress-ratio", options.compress_ratio, "share of topk's largest")
        .type_name("X");
    line.add_flag("!--no-error-feedback", options.error_feedback,
                  "forget what powersgd or topk have not sent");
}

void add_system_options(CommandLine& line, Options& options) {
    line.add("--link", options.link,
             "emulate a slow network between ranks, like 1Gbit or 100Mbit,5ms\n"
             "(backend ring)")
        .type_name("LINK");
    line.add("--backend", options.backend, kBackends,
             "ranks are a launcher's processes, or threads of this process; gloo and\n"
             "mpi if this build has them");
    line.add("--ranks", options.ranks, "number of ranks, with --backend threads")
        .type_name("N")
        .range(1, 1024);
    line.add("--timeout", options.timeout,
             "how long a rank waits for another before it gives up, in seconds")
        .type_name("SECONDS");
    add_device(line, options.device);
    line.add("--threads", options.threads, "threads that compute, on each rank")
        .type_name("N")
        .range(1, 1024);
    line.add("--workers", options.workers,
             "threads that fetch batches ahead, on each rank")
        .type_name("N")
        .range(0, 1024);
    line.add("--save", options.save, "write the trained parameters here (safetensors)")
        .type_name("FILE");
    add_logdir(line, options.logdir);
    line.add_flag("--plain", options.plain,
                  "compute with the core alone, as the labs write it, without extras");
    line.add_flag("--json", options.json,
                  "print the results as one JSON object, on one line");
}

// Returns the values of the options; Adam's default learning rate is not SGD's.
std::vector<std::pair<std::string, std::string>> values_of(const CommandLine& line,
                                                           const Options& options) {
    auto values = line.values();
    for (auto& [name, value] : values)
        if (name == "lr") value = fmt::format("{}", options.lr);
    return values;
}

// Throws UsageError if an option of one compression is given with another compression.
void check_compression(const CommandLine& line, const Options& options) {
    const bool is_power_sgd = options.compress == Compression::kPowerSGD;
    const bool is_top_k = options.compress == Compression::kTopK;
    const auto require = [&](const char* option, bool fits, const char* compressions) {
        if (line.given(option) && !fits)
            throw UsageError(concat(option, " is for --compress ", compressions, ", not ",
                                    to_string(options.compress, kCompressions)));
    };
    require("--matrix-approximation-rank", is_power_sgd, "powersgd");
    require("--start-powersgd-iter", is_power_sgd, "powersgd");
    require("--compress-ratio", is_top_k, "topk");
    require("--no-error-feedback", is_power_sgd || is_top_k, "powersgd or topk");
}

// Throws UsageError if options are given that cannot be combined.
void check_combinations(const CommandLine& line, const Options& options) {
    if (options.optimizer != OptimizerKind::kSGD && line.given("--momentum"))
        throw UsageError(concat("--momentum is for --optimizer sgd, not --optimizer ",
                                to_string(options.optimizer, kOptimizers)));
    if (options.zero && options.sync == Sync::kNone)
        throw UsageError(
            "--zero needs gradients that are equal on all ranks, but --sync none does "
            "not average them");
    if (options.checkpoint.empty()) return;
    if (options.sync == Sync::kNone)
        throw UsageError(
            "--checkpoint holds one replica, but with --sync none each rank has its own");
    if (options.compress == Compression::kPowerSGD ||
        options.compress == Compression::kTopK)
        throw UsageError(concat("--checkpoint does not hold the errors that --compress ",
                                to_string(options.compress, kCompressions),
                                " feeds back; use fp16, bf16 or none"));
}

// Throws UsageError for errors that the declaration of an option does not detect.
void check(const Options& options) {
    if (!(std::isfinite(options.lr) && options.lr >= 0))
        throw UsageError(concat("--lr must not be negative, but is ", options.lr));
    if (!(std::isfinite(options.momentum) && options.momentum >= 0))
        throw UsageError(
            concat("--momentum must not be negative, but is ", options.momentum));
    if (!(options.bucket_cap_mb * 1048576.0 >= 1.0 && options.bucket_cap_mb <= 1e6))
        throw UsageError(concat("--bucket-cap-mb must be at least one byte, but is ",
                                options.bucket_cap_mb, " MiB"));
    if (!(options.timeout >= 0.001 && options.timeout <= 1e6))
        throw UsageError(concat(
            "--timeout must be from 0.001 to 1000000 seconds, but is ", options.timeout));
    if (!(options.compress_ratio > 0 && options.compress_ratio <= 1))
        throw UsageError(concat("--compress-ratio must be above 0 and at most 1, but is ",
                                options.compress_ratio));
    if (options.compress != Compression::kNone && options.sync != Sync::kDDP)
        throw UsageError(concat("--compress ", to_string(options.compress, kCompressions),
                                " is for --sync ddp, not --sync ",
                                to_string(options.sync, kSyncs)));
    if (!options.link.empty() && options.backend != BackendKind::kRing)
        throw UsageError(concat("--link is for --backend ring, not ",
                                to_string(options.backend, kBackends)));
    check_save(options.save);
}

}  // namespace

std::optional<Options> parse_options(int argc, char** argv) {
    Options options;
    CommandLine line(
        "Trains the ConvNet of PyTorch's tutorial on distributed training on MNIST.\n"
        "On its own it is one rank; \"minirun -n 2 train_mnist\" makes two.",
        "train_mnist");
    line.column_width(34);
    add_job_options(line, options);
    add_optimizer_options(line, options);
    add_checkpoint_options(line, options);
    add_gradient_options(line, options);
    add_system_options(line, options);
    if (!line.parse(argc, argv)) return std::nullopt;
    if (options.optimizer != OptimizerKind::kSGD && !line.given("--lr"))
        options.lr = kAdamLr;
    options.values = values_of(line, options);
    check(options);
    check_compression(line, options);
    check_combinations(line, options);
    return options;
}

}  // namespace mini::training
