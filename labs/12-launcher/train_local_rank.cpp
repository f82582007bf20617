// train_local_rank: several processes on each host, each with its own device.
//
//     minirun -n 2 train_local_rank
//
//     host 0                          host 1
//     rank 0   local_rank 0   cuda:0  rank 2   local_rank 0   cuda:0
//     rank 1   local_rank 1   cuda:1  rank 3   local_rank 1   cuda:1
//
// The rank selects the samples, the local rank selects the device. The tutorial's
// mistakes, and the corrections here:
//
//     --local_rank as an argument       it is a string; launchers now set LOCAL_RANK
//     CUDA_VISIBLE_DEVICES set in the   too late: CUDA reads it when the first device is
//       program, after set_device         chosen. Set it for the launcher
//     a DistributedSampler for the      it shuffles, and counts some images twice to make
//       test data                         parts equal. Here: DistributedEvalSampler
//     no sampler.set_epoch(epoch)       all epochs have the same order. Called here
//     "shuffle must be False, or it     because the sampler shuffles; using both is an
//       fails"                            error, also in libmini
//
// Exit codes: 0 done, 1 failed, 2 invalid options.

#include <fmt/format.h>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>
#include <string>
#include <vector>

#include "libmini/autograd/functions.hpp"
#include "libmini/core/error.hpp"
#include "libmini/data/distributed_eval_sampler.hpp"
#include "libmini/data/distributed_sampler.hpp"
#include "libmini/data/loader.hpp"
#include "libmini/data/partition.hpp"
#include "libmini/datasets/digits.hpp"
#include "libmini/datasets/locate.hpp"
#include "libmini/distributed/group/gather.hpp"
#include "libmini/distributed/launch/default_group.hpp"
#include "libmini/extras/use_all.hpp"
#include "libmini/nn/linear.hpp"
#include "libmini/optim/sgd.hpp"
#include "libmini/parallel/ddp.hpp"
#include "libmini/random/random.hpp"
#include "libmini/tensor/ops.hpp"
#include "libmini/training/common_options.hpp"
#include "libmini/training/digests.hpp"
#include "libmini/training/program.hpp"
#include "libmini/training/rank_device.hpp"

using namespace mini;

namespace {

struct Options {
    std::string data;  // a folder, "digits", or empty: see data::find_data
    std::string device = "cpu";
    int64_t epochs = 2;
    int64_t batch_size = 32;  // of each rank, as in the tutorial
    int64_t samples = 0;      // of the training data; 0: all
    double lr = 0.05;
    int workers = 2;
    uint64_t seed = 0;
    bool json = false;
};

// The local rank and the numbers of samples of one rank.
struct Share {
    int64_t local_rank, train_samples, test_samples;
};

struct Results {
    std::vector<Share> shares;                   // one per rank
    std::vector<double> train_loss;              // one per epoch, the mean over all ranks
    int64_t test_correct = 0, test_seen = 0;     // by all ranks together
    std::vector<std::string> parameters_sha256;  // one per rank
};

// "Define your own": two layers, 50,890 parameters.
class Model : public nn::Module {
  public:
    Model() {
        register_module("fc1", fc1_);
        register_module("fc2", fc2_);
    }
    Tensor forward(const Tensor& x) override {
        return fc2_(relu(fc1_(flatten(x, 1))));  // (N, 1, 28, 28) -> (N, 10)
    }

  private:
    nn::Linear fc1_{784, 64};
    nn::Linear fc2_{64, 10};
};

struct TrainAndTest {
    std::shared_ptr<const data::Dataset> train, test;
};

TrainAndTest load(const Options& options) {
    const data::DataChoice choice = data::find_data(options.data);
    const auto test = data::load_data(choice, /*train=*/false);
    if (options.samples == 0) return {data::load_data(choice, /*train=*/true), test};

    // Take only the first samples; do not draw more digits than these.
    if (choice.name == "digits") return {data::make_digits(true, options.samples), test};
    const auto train = data::load_data(choice, /*train=*/true);
    std::vector<int64_t> first(
        static_cast<size_t>(std::min(options.samples, train->size())));
    std::iota(first.begin(), first.end(), 0);
    return {std::make_shared<data::Partition>(train, first), test};
}

// Counts on each rank separately, then adds the counts by one all-reduce: ranks may have
// different numbers of batches, so the loop must not call a collective.
void evaluate(Model& model, data::DataLoader& loader, Device device,
              dist::ProcessGroup& group, Results& results) {
    const NoGradGuard no_grad;
    model.eval();
    int64_t correct = 0, seen = 0;
    for (const data::Batch& batch : loader) {
        const auto predicted =
            ops::argmax(model(batch.data.to(device))).to_vector<int64_t>();
        const auto target = batch.target.to_vector<int64_t>();
        for (size_t i = 0; i < target.size(); ++i) correct += predicted[i] == target[i];
        seen += batch.size();
    }
    model.train();

    const Tensor counts = Tensor::from(std::vector<int64_t>{correct, seen});
    group.all_reduce(counts);
    results.test_correct = counts.to_vector<int64_t>()[0];
    results.test_seen = counts.to_vector<int64_t>()[1];
}

// Trains one epoch on this rank's part of the data; returns the mean loss of all ranks.
double train_epoch(parallel::DistributedDataParallel& ddp, data::DataLoader& loader,
                   Device device, optim::SGD& optimizer) {
    double sum = 0.0, seen = 0.0;
    for (const data::Batch& batch : loader) {
        optimizer.zero_grad();
        const Tensor loss =
            cross_entropy(ddp(batch.data.to(device)), batch.target.to(device));
        loss.backward();
        optimizer.step();
        sum += loss.item() * static_cast<double>(batch.size());
        seen += static_cast<double>(batch.size());
    }
    const Tensor mean = Tensor::scalar(static_cast<float>(sum / seen));
    ddp.group().all_reduce(mean, dist::ReduceOp::kAvg);
    return mean.item();
}

std::vector<Share> gather_shares(dist::ProcessGroup& group, const Share& mine) {
    std::vector<Share> shares;
    for (const auto& values : dist::all_gather_values<int64_t>(
             group, {mine.local_rank, mine.train_samples, mine.test_samples}))
        shares.push_back({values[0], values[1], values[2]});
    return shares;
}

Results train(const Options& options, int local_rank, Device device,
              dist::ProcessGroup& group) {
    TrainAndTest datasets;
    training::on_all_ranks(group, [&] { datasets = load(options); });

    // Divide training and test data; the samplers get rank and world size from the
    // default group.
    const auto train_sampler = std::make_shared<data::DistributedSampler>(
        *datasets.train, data::DistributedSamplerOptions{.seed = options.seed});
    const auto test_sampler =
        std::make_shared<data::DistributedEvalSampler>(*datasets.test);
    data::DataLoader train_loader(datasets.train, {.batch_size = options.batch_size,
                                                   .sampler = train_sampler,
                                                   .num_workers = options.workers});
    data::DataLoader test_loader(
        datasets.test,
        {.batch_size = 1000, .sampler = test_sampler, .num_workers = options.workers});

    // Build the model on the device, before the optimizer; DDP gives every rank the
    // parameters of rank 0.
    manual_seed(options.seed);
    Model model;
    model.to(device);
    parallel::DistributedDataParallel ddp(model);
    optim::SGD optimizer(model.parameters(), {.lr = options.lr});

    Results results;
    results.shares =
        gather_shares(group, {local_rank, train_sampler->size(), test_sampler->size()});
    for (int64_t epoch = 0; epoch < options.epochs; ++epoch) {
        train_loader.set_epoch(epoch);
        results.train_loss.push_back(train_epoch(ddp, train_loader, device, optimizer));
        if (group.rank() == 0 && !options.json)
            std::cout << fmt::format("epoch {:>2}   loss {:.4f}\n", epoch + 1,
                                     results.train_loss.back())
                      << std::flush;
    }
    evaluate(model, test_loader, device, group, results);
    results.parameters_sha256 = training::parameter_digests(group, model);
    return results;
}

void report(const Options& options, const Results& results) {
    const double accuracy = static_cast<double>(results.test_correct) /
                            static_cast<double>(results.test_seen);
    if (options.json) {
        nlohmann::ordered_json json = {{"world_size", results.shares.size()},
                                       {"epochs", options.epochs},
                                       {"batch_size", options.batch_size},
                                       {"train_loss", results.train_loss},
                                       {"test_accuracy", accuracy},
                                       {"test_correct", results.test_correct},
                                       {"test_seen", results.test_seen},
                                       {"parameters_sha256", results.parameters_sha256}};
        for (const Share& share : results.shares) {
            json["local_rank"].push_back(share.local_rank);
            json["train_samples"].push_back(share.train_samples);
            json["test_samples"].push_back(share.test_samples);
        }
        json["device"] = options.device;
        std::cout << json.dump() << std::endl;
        return;
    }
    std::cout << '\n';
    for (size_t rank = 0; rank < results.shares.size(); ++rank) {
        const Share& share = results.shares[rank];
        const Device device =
            training::device_named(options.device, static_cast<int>(share.local_rank));
        std::cout << concat("  rank ", rank, ", local rank ", share.local_rank, " on ",
                            device, ": ", share.train_samples, " training and ",
                            share.test_samples, " test images\n");
    }
    std::cout << fmt::format(
        "  accuracy {:.4f}: {} of {} test images, each counted once\n  replicas {}\n",
        accuracy, results.test_correct, results.test_seen,
        training::compare(results.parameters_sha256));
}

bool parse_options(int argc, char** argv, Options& options) {
    CommandLine line(
        "Trains a small network on MNIST, one process for each device of each host.\n"
        "On its own it is one rank; \"minirun -n 2 train_local_rank\" makes two.",
        "train_local_rank");
    line.add("--data", options.data,
             "MNIST's folder, or \"digits\" for the embedded digits; without it\n"
             "MNIST if it is found, else the digits")
        .type_name("DIR");
    training::add_device(line, options.device);
    training::add_count(line, "--epochs", options.epochs,
                        "passes over the training data");
    training::add_count(line, "--batch-size", options.batch_size,
                        "samples per step on each rank");
    training::add_count(line, "--samples", options.samples,
                        "train on the first N images only")
        .default_text("");
    training::add_count(line, "--workers", options.workers,
                        "threads that fetch batches ahead, on each rank");
    training::add_common(line, options.lr, options.seed, options.json);
    return line.parse(argc, argv);
}

}  // namespace

int main(int argc, char** argv) {
    return training::run("train_local_rank", [&] {
        extras::use_all();
        Options options;
        if (!parse_options(argc, argv, options)) return;

        // The processes of a host share its CPU, but each takes its own GPU, selected by
        // the local rank and not by the rank, because every host counts its GPUs from 0.
        // Choose the device before creating the group: NCCL binds a group to a device.
        const int local_rank = dist::get_local_rank();
        const Device device = training::device_of_rank(options.device, local_rank);

        const auto group = training::join_group();
        const Results results = train(options, local_rank, device, *group);
        if (group->rank() == 0) report(options, results);
        dist::destroy_process_group();
    });
}
