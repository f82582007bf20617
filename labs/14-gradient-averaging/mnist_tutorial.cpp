// mnist_tutorial: PyTorch's tutorial "Writing Distributed Applications with PyTorch",
// whole and in one file: partition the data, average the gradients, train, start the
// processes.
//
//     mnist_tutorial                     two ranks, which it starts itself, as there
//     mnist_tutorial --spawn 4           four
//     minirun -n 4 mnist_tutorial        ranks that a launcher starts
//
// Partition, DataPartitioner and Net are the library's: libmini/data/partition.hpp and
// libmini/nn/models.hpp. It has partition_dataset and average_gradients too, but here
// they are written out: these twenty lines are data-parallel training.
//
// Exit codes: 0 done, 1 failed, 2 the options make no sense.

#include <fmt/format.h>
#include <cmath>
#include <iostream>
#include <nlohmann/json.hpp>

#include "labs/program.hpp"
#include "libmini/autograd/functions.hpp"
#include "libmini/core/random.hpp"
#include "libmini/data/loader.hpp"
#include "libmini/data/locate.hpp"
#include "libmini/data/partition.hpp"
#include "libmini/dist/default_group.hpp"
#include "libmini/dist/rank_variables.hpp"
#include "libmini/dist/spawn.hpp"
#include "libmini/nn/models.hpp"
#include "libmini/optim/sgd.hpp"
#include "libmini/tensor/ops.hpp"

namespace {

using mini::Tensor, mini::UsageError, mini::concat, mini::data::DataLoader;
namespace dist = mini::dist;

struct Options {
    std::string data;
    int64_t epochs = 10;
    int64_t batch_size = 128;  // of all ranks together
    double lr = 0.01;
    uint64_t seed = 1234;
    int spawn = 2;
    bool json = false;
};

// This rank's part of MNIST, in batches, and how large those are.
//
// The tutorial first had bsz = 128 / float(size), of which newer versions of PyTorch say
// that a batch size must be an integer. It is one here; where the ranks do not divide the
// batch, it becomes a little smaller: 3 ranks have 42 each, together 126.
//
// All parts are equally long, so all ranks have equally many batches. With one more on
// one rank, its last all-reduce would wait for ranks that have gone home.
std::pair<DataLoader, int64_t> partition_dataset(const Options& options) {
    const auto dataset = mini::data::load_data(mini::data::find_data(options.data), true);
    const int size = dist::get_world_size();
    const int64_t bsz = options.batch_size / size;
    const std::vector<double> partition_sizes(static_cast<size_t>(size), 1.0 / size);
    const mini::data::DataPartitioner partitioner(dataset, partition_sizes);
    const auto partition =
        std::make_shared<mini::data::Partition>(partitioner.use(dist::get_rank()));
    return {DataLoader(partition, {.batch_size = bsz, .shuffle = true}), bsz};
}

// Gradient averaging: afterwards every rank has the mean gradient of the whole batch.
//
// One all-reduce a parameter: a list of them, as in dist.all_reduce(model.parameters()),
// is no tensor, and fails. And the sum must be divided, or the steps grow with the ranks.
void average_gradients(const mini::nn::Module& model) {
    const auto size = static_cast<float>(dist::get_world_size());
    for (const Tensor& param : model.parameters()) {
        Tensor grad = param.grad();
        dist::default_group()->all_reduce(grad, dist::ReduceOp::kSum);
        mini::ops::copy_(grad, mini::ops::div(grad, Tensor::scalar(size)));
    }
}

// The mean over ranks of a number that each of them has.
//
// The tutorial prints each rank's own loss, which is that of its part alone.
double mean_over_ranks(double value) {
    const Tensor mean = Tensor::scalar(static_cast<float>(value));
    dist::default_group()->all_reduce(mean, dist::ReduceOp::kAvg);
    return mean.item();
}

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
    std::cout << "replicas   " << program::compare(digests) << " (sha256 "
              << digests[0].substr(0, 12) << "...)" << std::endl;
}

// Distributed synchronous SGD.
//
// What keeps the replicas alike: one seed, so they start alike; one averaged gradient, so
// every step changes them alike. (The one seed also gives all ranks the same dropout
// masks, as in the tutorial. DistributedDataParallel sends rank 0's parameters to all
// instead, and leaves each rank its own seed.)
void run(int rank, int size, const Options& options) {
    mini::manual_seed(options.seed);
    auto [train_set, bsz] = partition_dataset(options);
    mini::nn::ConvNet model;
    mini::optim::SGD optimizer(model.parameters(), {.lr = options.lr, .momentum = 0.5});

    std::vector<double> losses;
    const int64_t num_batches = train_set.size();  // the last one may be smaller
    for (int64_t epoch = 0; epoch < options.epochs; ++epoch) {
        double epoch_loss = 0.0;
        for (const auto& [data, target] : train_set) {
            optimizer.zero_grad();
            const Tensor output = model(data);
            const Tensor loss = mini::cross_entropy(output, target);
            epoch_loss += loss.item();
            loss.backward();
            average_gradients(model);
            optimizer.step();
        }
        losses.push_back(mean_over_ranks(epoch_loss / static_cast<double>(num_batches)));
        if (rank == 0 && !options.json)
            std::cout << fmt::format("epoch: {:2}, loss: {:.4f}, mean of {} rank{}",
                                     epoch, losses.back(), size, size == 1 ? "" : "s")
                      << std::endl;
    }
    const auto digests = program::parameter_digests(*dist::default_group(), model);
    if (rank == 0) report(options, bsz, losses, digests);
}

// Joins the group and runs fn. The address, the tutorial's MASTER_ADDR and MASTER_PORT,
// is in the environment already: a fixed port 29500 would meet the next job's.
template <typename Fn>
void init_processes(const Options& options, const Fn& fn,
                    const std::string& backend = "ring") {
    dist::init_process_group({.backend = backend});
    fn(dist::get_rank(), dist::get_world_size(), options);
    dist::destroy_process_group();
}

// Sets the options, and says whether there is anything to do: not after --help.
bool parse(int argc, char** argv, bool launched, Options& options) {
    CLI::App app("PyTorch's tutorial on distributed training, in one file.",
                 "mnist_tutorial");
    app.option_defaults()->always_capture_default();
    const auto positive = CLI::Range(int64_t{1}, int64_t{1} << 40).description("");
    app.add_option(
           "--data", options.data,
           "MNIST's folder, or \"digits\" for the embedded digits; without it the\n"
           "first there is of $MINI_DATA_DIR/mnist, data/mnist and the digits")
        ->type_name("DIR");
    app.add_option("--epochs", options.epochs, "passes over the data")->check(positive);
    app.add_option("--batch-size", options.batch_size, "samples a step, of all ranks")
        ->check(positive);
    app.add_option("--lr", options.lr, "learning rate of SGD")
        ->check(CLI::Range(0.0, 1e9).description(""));
    app.add_option("--seed", options.seed, "of initial weights, dropout and order");
    CLI::Option* const spawn = app.add_option("--spawn", options.spawn,
                                              "start so many ranks, without a launcher")
                                   ->check(CLI::Range(1, 1024).description(""));
    app.add_flag("--json", options.json, "print the results as one line of JSON");
    if (!program::parse(app, argc, argv)) return false;
    if (!std::isfinite(options.lr))
        throw UsageError(concat("--lr must be a number, but is ", options.lr));
    if (launched && spawn->count() > 0)
        throw UsageError(
            "--spawn: a launcher has started the ranks already; leave it out");
    return true;
}

}  // namespace

int main(int argc, char** argv) {
    bool speaks = true;
    try {
        // Options and files are the same for all ranks of a machine: one complains.
        const auto launcher = dist::read_rank_variables(dist::environment_variable);
        speaks = !launcher || launcher->local_rank <= 0;
        Options options;
        if (!parse(argc, argv, launcher.has_value(), options)) return 0;
        const int size = launcher ? launcher->world_size : options.spawn;
        if (options.batch_size < size)
            throw UsageError(concat("--batch-size ", options.batch_size,
                                    " is too small for ", size, " ranks; try ", size));
        const auto choice = mini::data::find_data(options.data);
        if (speaks && !options.json)
            std::cout << "data: " << choice.description << std::endl;
        speaks = true;  // what fails from here on may fail on one rank alone

        if (launcher)
            init_processes(options, run);
        else
            dist::spawn([&](int) { init_processes(options, run); }, size);
        return 0;
    } catch (const UsageError& error) {
        if (speaks) std::cerr << "mnist_tutorial: " << error.what() << '\n';
        return 2;
    } catch (const std::exception& error) {
        if (speaks) std::cerr << "mnist_tutorial: " << error.what() << '\n';
        return 1;
    }
}
