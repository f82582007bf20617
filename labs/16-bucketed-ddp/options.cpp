#include "options.hpp"

#include <fmt/format.h>

#include <cmath>
#include <filesystem>

#include "labs/program.hpp"
#include "libmini/core/error.hpp"

namespace train_mnist {
namespace {

using mini::concat;
using mini::UsageError;

void add_job_options(program::CommandLine& line, Options& options) {
    line.add("--data", options.data,
             "MNIST's folder, or \"digits\" for the embedded digits; without it the "
             "first\n"
             "there is of $MINI_DATA_DIR/mnist, data/mnist and the digits")
        .type_name("DIR");
    line.add("--epochs", options.epochs,
             "passes over the training data, or as many as --steps needs")
        .type_name("N")
        .default_text(std::to_string(kDefaultEpochs))
        .at_least(1);
    line.add("--steps", options.steps, "stop after so many steps in all")
        .type_name("N")
        .default_text("")
        .at_least(1);
    line.add("--batch-size", options.batch_size, "samples a step, of all ranks together")
        .type_name("N")
        .at_least(1);
    line.add("--seed", options.seed, "of initial weights, dropout and order")
        .type_name("N");
    line.add_flag("!--no-dropout", options.dropout, "train without dropout");
    line.add("--streams", options.streams,
             "one generator for everything, as in PyTorch, or one each for initial\n"
             "weights, order and dropout, so that they do not disturb each other")
        .type_name("torch|separate")
        .one_of({"torch", "separate"});
    line.add("--rounding", options.rounding,
             "draw what PyTorch draws with AVX2, or without")
        .type_name("fused|separate")
        .one_of({"fused", "separate"});
    line.add("--order", options.order,
             "shuffled anew each epoch, or as the samples lie in the file")
        .type_name("sampler|file")
        .one_of({"sampler", "file"});
    line.add("--partition", options.partition,
             "who gets which sample: DistributedSampler's choice, or the tutorial's\n"
             "DataPartitioner, then shuffled within each rank")
        .type_name("sampler|tutorial")
        .one_of({"sampler", "tutorial"});
}

void add_optimizer_options(program::CommandLine& line, Options& options) {
    line.add("--optimizer", options.optimizer, "what changes the parameters")
        .type_name("sgd|adam|adamw")
        .one_of({"sgd", "adam", "adamw"});
    line.add("--lr", options.lr,
             fmt::format("learning rate; {} for Adam and AdamW", kAdamLr))
        .type_name("X");
    line.add("--momentum", options.momentum, "momentum of SGD").type_name("X");
    line.add("--scheduler", options.scheduler,
             "the rate stays; falls to 0.7 of itself each epoch; falls to 0 along a\n"
             "cosine; or rises from a third in five epochs")
        .type_name("none|step|cosine|warmup")
        .one_of({"none", "step", "cosine", "warmup"});
    line.add_flag("--zero", options.zero,
                  "share the optimizer's state out among the ranks");
}

void add_checkpoint_options(program::CommandLine& line, Options& options) {
    const program::Option checkpoint =
        line.add("--checkpoint", options.checkpoint,
                 "save checkpoints here, and go on from the newest there is")
            .type_name("DIR");
    line.add("--every", options.every,
             "save every N steps, instead of each epoch, and at the end")
        .type_name("N")
        .default_text("")
        .at_least(1)
        .needs(checkpoint);
    line.add("--keep", options.keep, "how many checkpoints stay")
        .type_name("N")
        .range(1, 1 << 20)
        .needs(checkpoint);
    line.add_flag("--fresh", options.fresh,
                  "remove the checkpoints there are, and start anew")
        .needs(checkpoint);
}

void add_system_options(program::CommandLine& line, Options& options) {
    line.add("--sync", options.sync,
             "gradients are not averaged; by one all-reduce a parameter after backward;\n"
             "by one for all; by one a parameter during backward; or in buckets")
        .type_name("none|average|flat|overlap|ddp")
        .one_of({"none", "average", "flat", "overlap", "ddp"});
    line.add("--bucket-cap-mb", options.bucket_cap_mb, "size of DDP's buckets in MiB")
        .type_name("X");
    line.add("--compress", options.compress,
             "how DDP's buckets travel: whole, as 16-bit floats, or as factors of\n"
             "rank 2 after 20 steps")
        .type_name("none|fp16|bf16|powersgd")
        .one_of({"none", "fp16", "bf16", "powersgd"});
    line.add("--link", options.link,
             "emulate a slow network between ranks, like 1Gbit or 100Mbit,5ms\n"
             "(backend ring)")
        .type_name("LINK");
    line.add("--backend", options.backend,
             "ranks are a launcher's processes, or threads of this process; gloo and\n"
             "mpi where this build has them")
        .type_name("ring|threads|gloo|mpi")
        .one_of({"ring", "threads", "gloo", "mpi"});
    line.add("--ranks", options.ranks, "how many, with --backend threads")
        .type_name("N")
        .range(1, 1024);
    program::add_device(line, options.device);
    line.add_flag("--graph", options.graph,
                  "record a step as a CUDA graph and replay it (one rank, SGD)");
    line.add("--threads", options.threads, "threads that compute, on each rank")
        .type_name("N")
        .range(1, 1024);
    line.add("--workers", options.workers,
             "threads that fetch batches ahead, on each rank")
        .type_name("N")
        .range(0, 1024);
    line.add("--save", options.save, "write the trained parameters here (safetensors)")
        .type_name("FILE");
    line.add_flag("--json", options.json,
                  "print the results as one JSON object, on one line");
}

// An option that the optimizer or the exchange chosen cannot serve.
void check_combinations(const program::CommandLine& line, const Options& options) {
    if (options.optimizer != "sgd" && line.given("--momentum"))
        throw UsageError(concat("--momentum is for --optimizer sgd, not --optimizer ",
                                options.optimizer));
    if (options.zero && options.sync == "none")
        throw UsageError(
            "--zero needs gradients that are equal on all ranks, which --sync none does "
            "not make");
    if (options.graph && options.device == "cpu")
        throw UsageError("--graph is for CUDA devices; add --device cuda");
    if (options.graph && (options.optimizer != "sgd" || options.zero))
        throw UsageError(
            concat("--graph repeats the numbers of a step, and only those of "
                   "plain SGD stay; not with ",
                   options.zero ? "--zero" : "--optimizer " + options.optimizer));
    if (options.checkpoint.empty()) return;
    if (options.sync == "none")
        throw UsageError(
            "--checkpoint holds one replica, but with --sync none each rank has its own");
    if (options.compress == "powersgd")
        throw UsageError(
            "--checkpoint does not hold the errors that --compress powersgd feeds back; "
            "use fp16, bf16 or none");
}

// What the options' own checks do not say.
void check(const Options& options) {
    if (!(std::isfinite(options.lr) && options.lr >= 0))
        throw UsageError(concat("--lr must not be negative, but is ", options.lr));
    if (!(std::isfinite(options.momentum) && options.momentum >= 0))
        throw UsageError(
            concat("--momentum must not be negative, but is ", options.momentum));
    if (!(options.bucket_cap_mb * 1048576.0 >= 1.0 && options.bucket_cap_mb <= 1e6))
        throw UsageError(concat("--bucket-cap-mb must be at least one byte, but is ",
                                options.bucket_cap_mb, " MiB"));
    if (options.compress != "none" && options.sync != "ddp")
        throw UsageError(concat("--compress ", options.compress,
                                " is for --sync ddp, not --sync ", options.sync));
    if (!options.link.empty() && options.backend != "ring")
        throw UsageError(concat("--link is for --backend ring, not ", options.backend));
    if (options.save.empty()) return;
    const auto folder = std::filesystem::path(options.save).parent_path();
    if (!folder.empty() && !std::filesystem::is_directory(folder))
        throw UsageError(concat("--save ", options.save, ": there is no folder ",
                                folder.string(), "; make it first"));
    if (std::filesystem::is_directory(options.save))
        throw UsageError(concat("--save ", options.save, " is a folder; name a file"));
}

}  // namespace

std::optional<Options> parse_options(int argc, char** argv) {
    Options options;
    program::CommandLine line(
        "Trains the ConvNet of PyTorch's tutorial on distributed training on MNIST.\n"
        "On its own it is one rank; \"minirun -n 2 train_mnist\" makes two.",
        "train_mnist");
    line.column_width(34);
    add_job_options(line, options);
    add_optimizer_options(line, options);
    add_checkpoint_options(line, options);
    add_system_options(line, options);
    if (!line.parse(argc, argv)) return std::nullopt;
    if (options.optimizer != "sgd" && !line.given("--lr")) options.lr = kAdamLr;
    check(options);
    check_combinations(line, options);
    return options;
}

}  // namespace train_mnist
