#include "cifar_options.hpp"

#include <algorithm>

#include "libmini/core/error.hpp"
#include "libmini/training/common_options.hpp"

namespace cifar_resnet {
namespace {

using mini::UsageError, mini::concat;

void add_options(mini::CommandLine& line, Options& options) {
    line.add("--data", options.data,
             "CIFAR-10's folder (binary version), or \"synthetic\": drawn images")
        .type_name("DIR");
    line.add("--samples", options.samples, "number of synthetic training images")
        .at_least(1);
    line.add("--model", options.model, "which network")
        .one_of({"resnet10", "resnet18", "resnet50"});
    mini::training::add_device(line, options.device);
    line.add("--epochs", options.epochs, "passes over the data").at_least(1);
    line.add("--batch-size", options.batch_size, "samples per step, of all ranks")
        .at_least(1);
    line.add("--lr", options.lr, "learning rate of SGD, in the first epoch").at_least(0);
    line.add("--seed", options.seed, "seed of initial weights and order");
    line.add_flag("--average-at-end", options.average_at_end,
                  "no DDP: average the parameters once, when all ranks have trained");
    line.add_flag("--zero", options.zero, "shard the optimizer's state over the ranks");
    line.add("--save", options.save, "write the model here (safetensors)")
        .type_name("FILE");
    mini::training::add_logdir(line, options.logdir);
    line.add("--backend", options.backend, "how ranks exchange numbers")
        .type_name("ring|gloo|mpi|nccl");
    line.add("--rank", options.rank, "this rank's number, without a launcher");
    line.add("--world-size", options.world_size, "number of ranks, without a launcher");
    line.add("--port", options.port, "TCP port of rank 0, without a launcher")
        .range(1, 65535);
    line.add_flag("--json", options.json, "print the results as one line of JSON");
}

// Throws UsageError if options contradict each other, or a value is invalid.
void check(const Options& options) {
    const int rank = options.rank, world_size = options.world_size;
    if (world_size < 1 || rank < 0 || rank >= world_size)
        throw UsageError("--rank ", rank, " must be below --world-size ", world_size,
                         " and not below 0");
    const int64_t share = options.batch_size / world_size;
    if (options.batch_size % world_size != 0 || share < 2)
        throw UsageError("--batch-size ", options.batch_size, " does not give each of ",
                         world_size, " ranks the same number, at least 2; try ",
                         std::max<int64_t>(share, 2) * world_size);
    if (options.zero && options.average_at_end)
        throw UsageError(
            "--zero needs gradients that are equal on all ranks, but with "
            "--average-at-end each rank has its own");
    mini::training::check_save(options.save);
}

}  // namespace

std::optional<Options> parse_options(
    int argc, char** argv, const std::optional<mini::dist::RankVariables>& launcher) {
    Options options;
    mini::CommandLine line("Trains ResNet on CIFAR-10 by DistributedDataParallel.",
                           "cifar_resnet");
    add_options(line, options);
    if (!line.parse(argc, argv)) return std::nullopt;
    options.values = line.values();
    if (launcher) {
        if (line.given("--rank") || line.given("--world-size"))
            throw UsageError(
                "--rank, --world-size: the launcher sets these; leave them out");
        options.launched = true;
        options.rank = launcher->rank;
        options.world_size = launcher->world_size;
    }
    check(options);
    return options;
}

}  // namespace cifar_resnet
