// mnist_tutorial: PyTorch's complete tutorial "Writing Distributed Applications with
// PyTorch". This file starts the processes; distributed_sgd.cpp partitions the data,
// averages the gradients and trains.
//
//     mnist_tutorial                     two ranks, started by the program
//     mnist_tutorial --spawn 4           four ranks, started by the program
//     minirun -n 4 mnist_tutorial        four ranks, started by a launcher
//     mnist_tutorial --local 10          local SGD: averages parameters every 10 steps
//
// The library has the tutorial's Partition and DataPartitioner
// (libmini/data/partition.hpp) and its Net (libmini/nn/models.hpp).
//
// Exit codes: 0 done, 1 failed, 2 invalid options.

#include <fmt/format.h>
#include <cstdint>
#include <exception>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "labs/14-gradient-averaging/distributed_sgd.hpp"
#include "libmini/core/error.hpp"
#include "libmini/datasets/locate.hpp"
#include "libmini/distributed/launch/default_group.hpp"
#include "libmini/distributed/launch/spawn.hpp"
#include "libmini/distributed/rendezvous/rank_variables.hpp"
#include "libmini/extras/use_all.hpp"
#include "libmini/nn/models.hpp"
#include "libmini/optim/sgd.hpp"
#include "libmini/program/command_line.hpp"
#include "libmini/random/random.hpp"
#include "libmini/training/digests.hpp"

namespace {

using mini::UsageError, mini::concat;
namespace dist = mini::dist;
namespace training = mini::training;

struct Options {
    std::string data;
    int64_t epochs = 10;
    int64_t batch_size = 128;  // of all ranks together
    double lr = 0.01;
    uint64_t seed = 1234;
    int spawn = 2;
    int64_t local = 0;  // 0: average gradients; k: average parameters every k steps
    bool json = false;
};

void report(const Options& options, int64_t bsz, const std::vector<double>& losses,
            const std::vector<std::string>& digests) {
    if (options.json) {
        const nlohmann::ordered_json json = {{"world_size", dist::get_world_size()},
                                             {"batch_size", bsz},
                                             {"train_loss", losses},
                                             {"parameters_sha256", digests}};
        std::cout << json.dump() << std::endl;
        return;
    }
    std::cout << "replicas   " << training::compare(digests) << " (sha256 "
              << digests[0].substr(0, 12) << "...)" << std::endl;
}

// Distributed synchronous SGD.
//
// The tutorial makes the replicas equal with one seed, which also gives all ranks the
// same dropout masks. This program uses one seed too, although start_alike would make the
// replicas equal with any seeds.
//
// The tutorial originally had bsz = 128 / float(size); newer versions of PyTorch reject a
// batch size that is not an integer. Here it is an integer; if the number of ranks does
// not divide the batch, the global batch is slightly smaller: 3 ranks have 42 samples
// each, together 126.
void run(int rank, int size, const Options& options) {
    const auto group = dist::default_group();
    mini::manual_seed(options.seed);
    const auto dataset = mini::data::load_data(mini::data::find_data(options.data), true);
    auto [train_set, bsz] =
        tutorial::partition_dataset(dataset, options.batch_size, *group);
    mini::nn::ConvNet model;
    tutorial::start_alike(model, *group);
    mini::optim::SGD optimizer(model.parameters(), {.lr = options.lr, .momentum = 0.5});

    std::vector<double> losses;
    for (int64_t epoch = 0; epoch < options.epochs; ++epoch) {
        losses.push_back(options.local == 0
                             ? tutorial::train_epoch(model, train_set, optimizer, *group)
                             : tutorial::train_epoch_locally(model, train_set, optimizer,
                                                             *group, options.local));
        if (rank == 0 && !options.json)
            std::cout << fmt::format("epoch: {:2}, loss: {:.4f}, mean of {} rank{}",
                                     epoch, losses.back(), size, size == 1 ? "" : "s")
                      << std::endl;
    }
    const auto digests = training::parameter_digests(*group, model);
    if (rank == 0) report(options, bsz, losses, digests);
}

// Joins the group and runs fn. The address, MASTER_ADDR and MASTER_PORT in the tutorial,
// is already in the environment: a fixed port 29500 would conflict with another job on
// this machine.
template <typename Fn>
void init_processes(const Options& options, const Fn& fn,
                    const std::string& backend = "ring") {
    dist::init_process_group({.backend = backend});
    fn(dist::get_rank(), dist::get_world_size(), options);
    dist::destroy_process_group();
}

// Parses the options; returns false after --help: the program should then exit.
bool parse(int argc, char** argv, bool launched, Options& options) {
    mini::CommandLine line("PyTorch's tutorial on distributed training.",
                           "mnist_tutorial");
    line.add("--data", options.data,
             "MNIST's folder, or \"digits\" for the embedded digits; without it the\n"
             "first that exists of $MINI_DATA_DIR/mnist, data/mnist and the digits")
        .type_name("DIR");
    line.add("--epochs", options.epochs, "passes over the data").at_least(1);
    line.add("--batch-size", options.batch_size, "samples per step, of all ranks")
        .at_least(1);
    line.add("--lr", options.lr, "learning rate of SGD").at_least(0);
    line.add("--seed", options.seed, "seed of initial weights, dropout and order");
    line.add("--spawn", options.spawn, "start this many ranks, without a launcher")
        .range(1, 1024);
    line.add("--local", options.local,
             "local SGD: average the parameters after every LOCAL steps; 0: average\n"
             "the gradients in every step")
        .at_least(0);
    line.add_flag("--json", options.json, "print the results as one line of JSON");
    if (!line.parse(argc, argv)) return false;
    if (launched && line.given("--spawn"))
        throw UsageError(
            "--spawn: a launcher has started the ranks already; leave it out");
    return true;
}

}  // namespace

int main(int argc, char** argv) {
    mini::extras::use_all();
    bool prints_errors = true;
    try {
        // Options and files are the same for all ranks of a machine, so only one rank
        // prints the error.
        const auto launcher = dist::read_rank_variables();
        prints_errors = !launcher || launcher->local_rank <= 0;
        Options options;
        if (!parse(argc, argv, launcher.has_value(), options)) return 0;
        const int size = launcher ? launcher->world_size : options.spawn;
        if (options.batch_size < size)
            throw UsageError("--batch-size ", options.batch_size, " is too small for ",
                             size, " ranks; try ", size);
        const auto choice = mini::data::find_data(options.data);
        if (prints_errors && !options.json)
            std::cout << "data: " << choice.description << std::endl;
        prints_errors = true;  // from here on an error may occur on one rank only

        if (launcher)
            init_processes(options, run);
        else
            dist::spawn([&](int) { init_processes(options, run); }, size);
        return 0;
    } catch (const UsageError& error) {
        if (prints_errors) std::cerr << "mnist_tutorial: " << error.what() << '\n';
        return 2;
    } catch (const std::exception& error) {
        if (prints_errors) std::cerr << "mnist_tutorial: " << error.what() << '\n';
        return 1;
    }
}
