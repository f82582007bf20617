#include "cifar_options.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "labs/program.hpp"
#include "libmini/core/error.hpp"

namespace cifar_resnet {
namespace {

using mini::UsageError, mini::concat;

void add_options(CLI::App& app, Options& options) {
    app.option_defaults()->always_capture_default();
    const auto positive = CLI::Range(int64_t{1}, int64_t{1} << 40).description("");
    app.add_option("--data", options.data,
                   "CIFAR-10's folder (binary version), or \"synthetic\": drawn images")
        ->type_name("DIR");
    app.add_option("--samples", options.samples, "how many synthetic ones to train on")
        ->check(positive);
    app.add_option("--model", options.model, "which network")
        ->type_name("resnet10|resnet18|resnet50")
        ->check(CLI::IsMember({"resnet10", "resnet18", "resnet50"}).description(""));
    program::add_device(app, options.device);
    app.add_option("--epochs", options.epochs, "passes over the data")->check(positive);
    app.add_option("--batch-size", options.batch_size, "samples a step, of all ranks")
        ->check(positive);
    app.add_option("--lr", options.lr, "learning rate of SGD, in the first epoch")
        ->check(CLI::Range(0.0, 1e9).description(""));
    app.add_option("--seed", options.seed, "of initial weights and order");
    app.add_flag("--average-at-end", options.average_at_end,
                 "no DDP: average the parameters once, when all ranks have trained");
    app.add_option("--save", options.save, "write the model here (safetensors)")
        ->type_name("FILE");
    app.add_option("--backend", options.backend, "how ranks exchange numbers")
        ->type_name("ring|gloo|mpi|nccl");
    app.add_option("--rank", options.rank, "this rank's number, without launcher");
    app.add_option("--world-size", options.world_size, "how many there are, likewise");
    app.add_option("--port", options.port, "where ranks without launcher meet")
        ->check(CLI::Range(1, 65535).description(""));
    app.add_flag("--json", options.json, "print the results as one line of JSON");
}

// What CLI11's own checks do not say.
void check(const Options& options) {
    const int rank = options.rank, world_size = options.world_size;
    if (world_size < 1 || rank < 0 || rank >= world_size)
        throw UsageError(concat("--rank ", rank, " must be below --world-size ",
                                world_size, " and not below 0"));
    const int64_t share = options.batch_size / world_size;
    if (options.batch_size % world_size != 0 || share < 2)
        throw UsageError(concat("--batch-size ", options.batch_size,
                                " does not give each of ", world_size,
                                " ranks the same, and 2 at least; try ",
                                std::max<int64_t>(share, 2) * world_size));
    if (!std::isfinite(options.lr))
        throw UsageError(concat("--lr must be a number, but is ", options.lr));
    const std::filesystem::path file(options.save), folder = file.parent_path();
    if (!folder.empty() && !std::filesystem::is_directory(folder))
        throw UsageError(concat("--save ", options.save, ": there is no folder ",
                                folder.string(), "; make it first"));
    if (std::filesystem::is_directory(file))
        throw UsageError(concat("--save ", options.save, " is a folder; name a file"));
}

}  // namespace

std::optional<Options> parse_options(
    int argc, char** argv, const std::optional<mini::dist::RankVariables>& launcher) {
    Options options;
    CLI::App app("Trains ResNet on CIFAR-10 by DistributedDataParallel.", "cifar_resnet");
    add_options(app, options);
    if (!program::parse(app, argc, argv)) return std::nullopt;
    if (launcher) {
        if (app.count("--rank") + app.count("--world-size") > 0)
            throw UsageError(
                "--rank, --world-size: the launcher says these; leave them out");
        options.launched = true;
        options.rank = launcher->rank;
        options.world_size = launcher->world_size;
    }
    check(options);
    return options;
}

}  // namespace cifar_resnet
