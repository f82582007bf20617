#include "libmini/training/options.hpp"

#include <fmt/format.h>

#include "libmini/core/error.hpp"
#include "libmini/tensor/device.hpp"
#include "libmini/training/common_options.hpp"

namespace mini::training {
namespace {

void add_job_options(CommandLine& line, Options& options) {
    line.add("--data", options.data,
             "MNIST's folder, or \"digits\" for the embedded digits; by default the "
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
    line.add("--rounding", options.rounding,
             "draw the same numbers as PyTorch with AVX2, or without AVX2")
        .one_of({"fused", "separate"});
    line.add("--order", options.order,
             "samples shuffled again each epoch, or in file order")
        .one_of({"sampler", "file"});
    line.add("--partition", options.partition,
             "samples of each rank: from DistributedSampler, or from the tutorial's "
             "DataPartitioner, then shuffled within each rank")
        .one_of({"sampler", "tutorial"});
}

void add_optimizer_options(CommandLine& line, Options& options) {
    line.add("--optimizer", options.optimizer, "the optimizer")
        .one_of({"sgd", "adam", "adamw"});
    line.add("--lr", options.lr,
             fmt::format("learning rate; {} for Adam and AdamW", kAdamLr))
        .type_name("X")
        .at_least(0);
    line.add("--momentum", options.momentum, "momentum of SGD")
        .type_name("X")
        .at_least(0);
    line.add("--scheduler", options.scheduler,
             "the learning rate is constant; is multiplied by 0.7 after each epoch; "
             "falls to 0 along a cosine; or rises from a third in five epochs")
        .one_of({"none", "step", "cosine", "warmup"});
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
            "--sync", options.sync,
            "gradients are not averaged; or by one all-reduce per parameter after "
            "backward; by a single one; by one per parameter during backward; in buckets")
        .one_of({"none", "average", "flat", "overlap", "ddp"});
    line.add("--bucket-cap-mb", options.bucket_cap_mb, "size of DDP's buckets in MiB")
        .type_name("X")
        .range(1e-6, 1e6);
    line.add("--compress", options.compress,
             "how DDP's buckets are sent: uncompressed, as 16-bit floats, as products "
             "of thin matrices, or only the largest gradients")
        .one_of({"none", "fp16", "bf16", "powersgd", "topk"});
    line.add("--matrix-approximation-rank", options.matrix_approximation_rank,
             "columns of PowerSGD's thin matrices")
        .type_name("N")
        .range(1, 1024);
    line.add("--start-powersgd-iter", options.start_powerSGD_iter,
             "steps before PowerSGD compresses")
        .type_name("N")
        .at_least(2);
    line.add("--compress-ratio", options.compress_ratio, "share of topk's largest")
        .type_name("X")
        .range(1e-9, 1);
    line.add_flag("!--no-error-feedback", options.error_feedback,
                  "forget what powersgd or topk have not sent");
}

void add_system_options(CommandLine& line, Options& options) {
    line.add("--link", options.link,
             "emulate a slow network between ranks, like 1Gbit or 100Mbit,5ms "
             "(backend ring)")
        .type_name("LINK");
    line.add("--backend", options.backend,
             "ranks are a launcher's processes, or threads of this process; gloo and "
             "mpi if this build has them")
        .one_of({"ring", "threads", "gloo", "mpi"});
    line.add("--ranks", options.ranks, "number of ranks, with --backend threads")
        .type_name("N")
        .range(1, 1024);
    line.add("--timeout", options.timeout,
             "how long a rank waits for another before it gives up, in seconds")
        .type_name("SECONDS")
        .range(1e-3, 1e6);
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
    line.add_flag(
        "--plain", options.plain,
        "compute and average as the labs do, without the faster kernels and all-reduce");
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
    const bool is_power_sgd = options.compress == "powersgd";
    const bool is_top_k = options.compress == "topk";
    const auto require = [&](const char* option, bool fits, const char* compressions) {
        if (line.given(option) && !fits)
            throw UsageError(option, " is for --compress ", compressions, ", not ",
                             options.compress);
    };
    require("--matrix-approximation-rank", is_power_sgd, "powersgd");
    require("--start-powersgd-iter", is_power_sgd, "powersgd");
    require("--compress-ratio", is_top_k, "topk");
    require("--no-error-feedback", is_power_sgd || is_top_k, "powersgd or topk");
}

// Throws UsageError if options are given that cannot be combined.
void check_combinations(const CommandLine& line, const Options& options) {
    if (options.optimizer != "sgd" && line.given("--momentum"))
        throw UsageError("--momentum is for --optimizer sgd, not --optimizer ",
                         options.optimizer);
    if (options.zero && options.sync == "none")
        throw UsageError(
            "--zero needs gradients that are equal on all ranks, but --sync none does "
            "not average them");
    if (options.compress != "none" && options.sync != "ddp")
        throw UsageError("--compress ", options.compress,
                         " is for --sync ddp, not --sync ", options.sync);
    if (!options.link.empty() && options.backend != "ring")
        throw UsageError("--link is for --backend ring, not ", options.backend);
    if (options.checkpoint.empty()) return;
    if (options.sync == "none")
        throw UsageError(
            "--checkpoint holds one replica, but with --sync none each rank has its own");
    if (options.compress == "powersgd" || options.compress == "topk")
        throw UsageError("--checkpoint does not hold the errors that --compress ",
                         options.compress, " feeds back; use fp16, bf16 or none");
}

}  // namespace

std::optional<Options> parse_options(int argc, char** argv) {
    Options options;
    CommandLine line(
        "Trains the ConvNet of PyTorch's tutorial on distributed training on MNIST.\n"
        "On its own it is one rank; \"minirun -n 2 train_mnist\" makes two.",
        "train_mnist");
    add_job_options(line, options);
    add_optimizer_options(line, options);
    add_checkpoint_options(line, options);
    add_gradient_options(line, options);
    add_system_options(line, options);
    if (!line.parse(argc, argv)) return std::nullopt;
    if (options.optimizer != "sgd" && !line.given("--lr")) options.lr = kAdamLr;
    options.values = values_of(line, options);
    check_compression(line, options);
    check_combinations(line, options);
    check_save(options.save);
    return options;
}

}  // namespace mini::training
