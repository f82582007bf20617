#include "options.hpp"

#include <CLI/CLI.hpp>
#include <cmath>
#include <filesystem>
#include <iostream>

#include "libmini/core/error.hpp"

namespace train_mnist {
namespace {

using mini::concat;
using mini::UsageError;

void add_job_options(CLI::App& app, Options& options) {
    app.add_option("--data", options.data,
                   "folder with MNIST's files, or \"digits\" for the embedded digits "
                   "[$MINI_DATA_DIR/mnist, data/mnist, digits: the first there is]");
    app.add_option("--epochs", options.epochs,
                   "passes over the training data [3, or as many as --steps needs]")
        ->check(CLI::Range(int64_t{1}, int64_t{1000000}));
    app.add_option("--steps", options.steps, "stop after so many steps in all")
        ->check(CLI::Range(int64_t{1}, int64_t{1} << 40));
    app.add_option("--batch-size", options.batch_size,
                   "samples a step, of all ranks together")
        ->check(CLI::Range(int64_t{1}, int64_t{1000000}));
    app.add_option("--lr", options.lr, "learning rate of SGD");
    app.add_option("--momentum", options.momentum, "momentum of SGD");
    app.add_option("--seed", options.seed, "of initial weights, dropout and order");
    app.add_flag("!--no-dropout", options.dropout, "train without dropout");
    app.add_option(
           "--order", options.order,
           "sampler: shuffled anew each epoch; file: as the samples lie in the file")
        ->check(CLI::IsMember({"sampler", "file"}));
    app.add_option("--partition", options.partition,
                   "who gets which sample: sampler (DistributedSampler) or tutorial "
                   "(DataPartitioner, then shuffled within each rank)")
        ->check(CLI::IsMember({"tutorial", "sampler"}));
}

void add_system_options(CLI::App& app, Options& options) {
    app.add_option(
           "--sync", options.sync,
           "how gradients are averaged: ddp (buckets, during backward), average (one "
           "all-reduce a parameter, after it), none")
        ->check(CLI::IsMember({"none", "average", "ddp"}));
    app.add_option("--bucket-cap-mb", options.bucket_cap_mb,
                   "size of DDP's buckets in MiB");
    app.add_option("--backend", options.backend,
                   "ring: ranks are the processes that minirun starts; threads: ranks "
                   "are threads "
                   "of this process")
        ->check(CLI::IsMember({"ring", "threads"}));
    app.add_option("--ranks", options.ranks, "how many, with --backend threads")
        ->check(CLI::Range(1, 1024));
    app.add_option("--device", options.device, "where tensors live")
        ->check(CLI::IsMember({"cpu", "cuda"}));
    app.add_option("--threads", options.threads, "threads that compute, on each rank")
        ->check(CLI::Range(1, 1024));
    app.add_option("--workers", options.workers,
                   "threads that fetch batches ahead, on each rank")
        ->check(CLI::Range(0, 1024));
    app.add_option("--save", options.save,
                   "write the trained parameters here (safetensors)");
    app.add_flag("--json", options.json,
                 "print the results as one JSON object, on one line");
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
    if (options.device == "cuda")
        throw UsageError("--device cuda: this build has no CUDA; use --device cpu");
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
    add_job_options(app, options);
    add_system_options(app, options);
    try {
        app.parse(argc, argv);
    } catch (const CLI::CallForHelp&) {
        std::cout << app.help();
        return std::nullopt;
    } catch (const CLI::ParseError& error) {
        throw UsageError(concat(error.what(), " (train_mnist --help lists the options)"));
    }
    check(options);
    return options;
}

}  // namespace train_mnist
