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

// A check whose bounds the help need not spell out.
CLI::Validator from(int64_t least) {
    return CLI::Range(least, int64_t{1} << 40).description("");
}

void add_job_options(CLI::App& app, Options& options) {
    app.add_option(
           "--data", options.data,
           "MNIST's folder, or \"digits\" for the embedded digits; without it the first\n"
           "there is of $MINI_DATA_DIR/mnist, data/mnist and the digits")
        ->type_name("DIR");
    app.add_option("--epochs", options.epochs,
                   "passes over the training data, or as many as --steps needs")
        ->type_name("N")
        ->default_str(std::to_string(kDefaultEpochs))
        ->check(from(1));
    app.add_option("--steps", options.steps, "stop after so many steps in all")
        ->type_name("N")
        ->default_str("")
        ->check(from(1));
    app.add_option("--batch-size", options.batch_size,
                   "samples a step, of all ranks together")
        ->type_name("N")
        ->check(from(1));
    app.add_option("--seed", options.seed, "of initial weights, dropout and order")
        ->type_name("N");
    app.add_flag("!--no-dropout", options.dropout, "train without dropout");
    app.add_option(
           "--streams", options.streams,
           "one generator for everything, as in PyTorch, or one each for initial\n"
           "weights, order and dropout, so that they do not disturb each other")
        ->type_name("torch|separate")
        ->check(CLI::IsMember({"torch", "separate"}).description(""));
    app.add_option("--order", options.order,
                   "shuffled anew each epoch, or as the samples lie in the file")
        ->type_name("sampler|file")
        ->check(CLI::IsMember({"sampler", "file"}).description(""));
    app.add_option(
           "--partition", options.partition,
           "who gets which sample: DistributedSampler's choice, or the tutorial's\n"
           "DataPartitioner, then shuffled within each rank")
        ->type_name("sampler|tutorial")
        ->check(CLI::IsMember({"sampler", "tutorial"}).description(""));
}

void add_optimizer_options(CLI::App& app, Options& options) {
    app.add_option("--optimizer", options.optimizer, "what changes the parameters")
        ->type_name("sgd|adam|adamw")
        ->check(CLI::IsMember({"sgd", "adam", "adamw"}).description(""));
    app.add_option("--lr", options.lr,
                   fmt::format("learning rate; {} for Adam and AdamW", kAdamLr))
        ->type_name("X");
    app.add_option("--momentum", options.momentum, "momentum of SGD")->type_name("X");
    app.add_option(
           "--scheduler", options.scheduler,
           "the rate stays; falls to 0.7 of itself each epoch; falls to 0 along a\n"
           "cosine; or rises from a third in five epochs")
        ->type_name("none|step|cosine|warmup")
        ->check(CLI::IsMember({"none", "step", "cosine", "warmup"}).description(""));
    app.add_flag("--zero", options.zero,
                 "share the optimizer's state out among the ranks");
}

void add_checkpoint_options(CLI::App& app, Options& options) {
    CLI::Option* const checkpoint =
        app.add_option("--checkpoint", options.checkpoint,
                       "save checkpoints here, and go on from the newest there is")
            ->type_name("DIR");
    app.add_option("--every", options.every,
                   "save every N steps, instead of each epoch, and at the end")
        ->type_name("N")
        ->default_str("")
        ->check(from(1))
        ->needs(checkpoint);
    app.add_option("--keep", options.keep, "how many checkpoints stay")
        ->type_name("N")
        ->check(CLI::Range(1, 1 << 20).description(""))
        ->needs(checkpoint);
    app.add_flag("--fresh", options.fresh,
                 "remove the checkpoints there are, and start anew")
        ->needs(checkpoint);
}

void add_system_options(CLI::App& app, Options& options) {
    app.add_option(
           "--sync", options.sync,
           "gradients are not averaged; by one all-reduce a parameter after backward;\n"
           "by one for all; by one a parameter during backward; or in buckets")
        ->type_name("none|average|flat|overlap|ddp")
        ->check(
            CLI::IsMember({"none", "average", "flat", "overlap", "ddp"}).description(""));
    app.add_option("--bucket-cap-mb", options.bucket_cap_mb,
                   "size of DDP's buckets in MiB")
        ->type_name("X");
    app.add_option("--compress", options.compress,
                   "how DDP's buckets travel: whole, as 16-bit floats, or as factors of\n"
                   "rank 2 after 20 steps")
        ->type_name("none|fp16|bf16|powersgd")
        ->check(CLI::IsMember({"none", "fp16", "bf16", "powersgd"}).description(""));
    app.add_option("--link", options.link,
                   "emulate a slow network between ranks, like 1Gbit or 100Mbit,5ms\n"
                   "(backend ring)")
        ->type_name("LINK");
    app.add_option(
           "--backend", options.backend,
           "ranks are a launcher's processes, or threads of this process; gloo and\n"
           "mpi where this build has them")
        ->type_name("ring|threads|gloo|mpi")
        ->check(CLI::IsMember({"ring", "threads", "gloo", "mpi"}).description(""));
    app.add_option("--ranks", options.ranks, "how many, with --backend threads")
        ->type_name("N")
        ->check(CLI::Range(1, 1024).description(""));
    program::add_device(app, options.device);
    app.add_flag("--graph", options.graph,
                 "record a step as a CUDA graph and replay it (one rank, SGD)");
    app.add_option("--threads", options.threads, "threads that compute, on each rank")
        ->type_name("N")
        ->check(CLI::Range(1, 1024).description(""));
    app.add_option("--workers", options.workers,
                   "threads that fetch batches ahead, on each rank")
        ->type_name("N")
        ->check(CLI::Range(0, 1024).description(""));
    app.add_option("--save", options.save,
                   "write the trained parameters here (safetensors)")
        ->type_name("FILE");
    app.add_flag("--json", options.json,
                 "print the results as one JSON object, on one line");
}

// An option that the optimizer or the exchange chosen cannot serve.
void check_combinations(const CLI::App& app, const Options& options) {
    if (options.optimizer != "sgd" && app.count("--momentum") > 0)
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

// What CLI11's own checks do not say.
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
    CLI::App app(
        "Trains the ConvNet of PyTorch's tutorial on distributed training on MNIST.\n"
        "On its own it is one rank; \"minirun -n 2 train_mnist\" makes two.",
        "train_mnist");
    app.option_defaults()->always_capture_default();
    app.get_formatter()->column_width(34);
    add_job_options(app, options);
    add_optimizer_options(app, options);
    add_checkpoint_options(app, options);
    add_system_options(app, options);
    if (!program::parse(app, argc, argv)) return std::nullopt;
    if (options.optimizer != "sgd" && app.count("--lr") == 0) options.lr = kAdamLr;
    check(options);
    check_combinations(app, options);
    return options;
}

}  // namespace train_mnist
