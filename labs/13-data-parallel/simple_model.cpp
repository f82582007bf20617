// simple_model: the same training by DataParallel and by DistributedDataParallel.
//
//     simple_model                            both, one after the other
//     simple_model --mode ddp                 starts its own ranks, by dist::spawn
//     minirun -n 2 simple_model --mode ddp    uses a launcher's ranks
//
//     DataParallel   one process, one thread per device; parameters, inputs, outputs and
//                    gradients all pass through device 0, in every step
//     DDP            one process per rank; sends only gradients; all ranks are equal
//
// The tutorial's mistakes, and the corrections here:
//
//     each rank draws its own data set     the sampler then divides different data sets.
//       from an unseeded generator           Here one seed gives all ranks the same set
//     batch_size = 10 in both              DataParallel: 10 per step. DDP: 10 per rank,
//                                            40 per step. Here both have the global batch
//     targets are random bits              not learnable: the loss stays near 0.69.
//                                            Here a plane separates the classes
//     no sampler.set_epoch(epoch)          every epoch has the first epoch's order
//     no MASTER_ADDR, no MASTER_PORT       init_process_group fails; spawn sets them here
//     no destroy_process_group             called here
//
// Exit codes: 0 done, 1 failed, 2 invalid options.

#include <fmt/format.h>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "libmini/autograd/functions.hpp"
#include "libmini/data/distributed_sampler.hpp"
#include "libmini/data/loader.hpp"
#include "libmini/distributed/group/gather.hpp"
#include "libmini/distributed/launch/default_group.hpp"
#include "libmini/distributed/launch/spawn.hpp"
#include "libmini/extras/use_all.hpp"
#include "libmini/nn/linear.hpp"
#include "libmini/optim/sgd.hpp"
#include "libmini/parallel/data_parallel.hpp"
#include "libmini/parallel/ddp.hpp"
#include "libmini/random/random.hpp"
#include "libmini/training/common_options.hpp"
#include "libmini/training/digests.hpp"
#include "libmini/training/program.hpp"

using namespace mini;

namespace {

constexpr uint64_t kDataSeed = 1;

struct Options {
    std::string mode = "both";  // or dp, ddp
    int devices = 3;
    int world_size = 4;
    int64_t epochs = 10;
    int64_t batch_size = 20;  // of all devices or ranks together
    int64_t samples = 100;
    int64_t dim = 10;
    double lr = 0.1;
    uint64_t seed = 0;
    bool json = false;
};

// Points; the target is 1 on one side of a plane and 0 on the other side.
class SimpleDataset : public data::Dataset {
  public:
    SimpleDataset(Tensor data, Tensor target)
        : data_(std::move(data)), target_(std::move(target)) {}
    int64_t size() const override { return data_.size(0); }
    data::Example get(int64_t index) const override {
        return {select(data_, 0, index), select(target_, 0, index)};
    }

  private:
    Tensor data_;    // (N, dim)
    Tensor target_;  // (N)
};

class SimpleModel : public nn::Module {
  public:
    explicit SimpleModel(int64_t input_dim) : fc_(input_dim, 1) {
        register_module("fc", fc_);
    }
    Tensor forward(const Tensor& x) override { return sigmoid(fc_(x)); }

  private:
    nn::Linear fc_;
};

// Returns the same data set on every rank, because it is drawn from its own generator.
std::shared_ptr<SimpleDataset> make_dataset(const Options& options) {
    Generator generator(kDataSeed);
    std::vector<float> x(static_cast<size_t>(options.samples * options.dim));
    fill_normal(x, 0, 1, generator);
    std::vector<float> y;
    for (int64_t i = 0; i < options.samples; ++i) {
        const auto row = x.begin() + i * options.dim;
        y.push_back(std::accumulate(row, row + options.dim, 0.0) > 0 ? 1.0f : 0.0f);
    }
    return std::make_shared<SimpleDataset>(
        Tensor::from(x, {options.samples, options.dim}), Tensor::from(y));
}

// The results of one training.
struct Results {
    int workers = 0;             // devices or ranks
    std::vector<double> loss;    // one per epoch, the mean over all samples
    std::vector<int64_t> bytes;  // in the last step; DP: in total, DDP: sent by each rank
    parallel::DataParallelStats traffic;  // of DataParallel's last step, by kind
    std::vector<std::string> digests;     // of DDP's parameters, one per rank
};

// Trains `network`, the parallel wrapper of `model`, on share number `share` of `shares`
// equal shares of the data. Calls `before_step` before each step. Returns the mean loss
// of each epoch.
std::vector<double> train(const Options& options, nn::Module& network, nn::Module& model,
                          int share, int shares,
                          const std::function<void()>& before_step) {
    const auto dataset = make_dataset(options);
    data::DataLoader loader(
        dataset, {.batch_size = options.batch_size / shares,
                  .sampler = std::make_shared<data::DistributedSampler>(
                      *dataset,
                      data::DistributedSamplerOptions{
                          .num_replicas = shares, .rank = share, .seed = options.seed})});
    optim::SGD optimizer(model.parameters(), {.lr = options.lr});
    std::vector<double> losses;
    for (int64_t epoch = 0; epoch < options.epochs; ++epoch) {
        loader.set_epoch(epoch);
        double sum = 0.0, seen = 0.0;
        for (const data::Batch& batch : loader) {
            before_step();
            optimizer.zero_grad();
            const Tensor output = network(batch.data);  // (N, 1)
            const Tensor target = reshape(batch.target, {batch.size(), 1});
            const Tensor loss = binary_cross_entropy(output, target);
            loss.backward();
            optimizer.step();
            sum += loss.item() * static_cast<double>(batch.size());
            seen += static_cast<double>(batch.size());
        }
        losses.push_back(sum / seen);
    }
    return losses;
}

// Trains with DataParallel: one process, several CPU devices, each with its own thread.
Results train_dp(const Options& options) {
    manual_seed(options.seed);
    SimpleModel model(options.dim);
    std::vector<Device> devices;
    for (int i = 0; i < options.devices; ++i) devices.push_back(Device::cpu(i));
    parallel::DataParallel network(
        model, [&] { return std::make_unique<SimpleModel>(options.dim); },
        {.device_ids = devices});

    Results results;
    results.workers = options.devices;
    parallel::DataParallelStats before;
    results.loss =
        train(options, network, model, 0, 1, [&] { before = network.stats(); });
    const parallel::DataParallelStats& after = network.stats();
    results.traffic = {after.bytes_scattered - before.bytes_scattered,
                       after.bytes_replicated - before.bytes_replicated,
                       after.bytes_gathered - before.bytes_gathered,
                       after.bytes_reduced - before.bytes_reduced};
    results.bytes = {results.traffic.total()};
    return results;
}

// Trains with DDP; every rank must call this function.
Results train_ddp(const Options& options, dist::ProcessGroup& group) {
    manual_seed(options.seed);
    SimpleModel model(options.dim);
    parallel::DistributedDataParallel network(model);

    // The log is cleared before each step, so at the end it has only the last step's
    // collectives.
    Results results;
    results.workers = group.world_size();
    const auto mine = train(options, network, model, group.rank(), group.world_size(),
                            [&] { group.events().clear(); });
    int64_t sent = 0;
    for (const Event& event : group.events().snapshot(EventKind::kCollectiveEnd))
        sent += event.bytes;

    // Gather the results of all ranks.
    const Tensor loss = Tensor::from(std::vector<float>(mine.begin(), mine.end()));
    group.all_reduce(loss, dist::ReduceOp::kAvg);
    for (const float mean : loss.to_vector<float>()) results.loss.push_back(mean);
    for (const auto& bytes : dist::all_gather_values<int64_t>(group, {sent}))
        results.bytes.push_back(bytes[0]);
    results.digests = training::parameter_digests(group, model);
    return results;
}

nlohmann::ordered_json as_json(const Results& results, const std::string& workers) {
    return {{workers, results.workers},
            {"loss", results.loss},
            {"bytes_per_step", results.bytes}};
}

void report_json(const Options& options, const std::optional<Results>& dp,
                 const std::optional<Results>& ddp) {
    nlohmann::ordered_json json = {{"mode", options.mode},
                                   {"epochs", options.epochs},
                                   {"batch_size", options.batch_size},
                                   {"samples", options.samples},
                                   {"dim", options.dim}};
    if (dp) {
        json["dp"] = as_json(*dp, "devices");
        json["dp"]["traffic"] = {{"scattered", dp->traffic.bytes_scattered},
                                 {"replicated", dp->traffic.bytes_replicated},
                                 {"gathered", dp->traffic.bytes_gathered},
                                 {"reduced", dp->traffic.bytes_reduced}};
    }
    if (ddp) {
        json["ddp"] = as_json(*ddp, "world_size");
        json["ddp"]["parameters_sha256"] = ddp->digests;
    }
    std::cout << json.dump() << std::endl;
}

void report(const Options& options, const std::optional<Results>& dp,
            const std::optional<Results>& ddp) {
    if (options.json) return report_json(options, dp, ddp);
    if (dp) {
        const auto& traffic = dp->traffic;
        std::cout << fmt::format(
            "DataParallel, devices: {}\n"
            "  loss       {:.4f} in the first epoch, {:.4f} in the last\n"
            "  each step  {} bytes to and from device 0: {} of inputs and gradients of\n"
            "             outputs, {} of parameters, {} of outputs, {} of gradients\n",
            dp->workers, dp->loss.front(), dp->loss.back(), dp->bytes[0],
            traffic.bytes_scattered, traffic.bytes_replicated, traffic.bytes_gathered,
            traffic.bytes_reduced);
    }
    if (ddp) {
        std::cout << fmt::format(
            "DistributedDataParallel, ranks: {}\n"
            "  loss       {:.4f} in the first epoch, {:.4f} in the last\n"
            "  each step  {} bytes from the rank that sends most: gradients only\n"
            "  replicas   {}\n",
            ddp->workers, ddp->loss.front(), ddp->loss.back(),
            std::ranges::max(ddp->bytes), training::compare(ddp->digests));
    }
    std::cout << std::flush;
}

bool parse_options(int argc, char** argv, Options& options) {
    CommandLine line(
        "Trains logistic regression by DataParallel, by DistributedDataParallel, or by\n"
        "both, and compares their losses and the bytes they send.",
        "simple_model");
    line.add("--mode", options.mode, "methods to run").one_of({"dp", "ddp", "both"});
    training::add_count(line, "--devices", options.devices, "devices of DataParallel");
    training::add_count(line, "--world-size", options.world_size,
                        "ranks of DDP, without a launcher");
    training::add_count(line, "--epochs", options.epochs, "passes over the data");
    training::add_count(line, "--batch-size", options.batch_size,
                        "samples per step, of all devices or ranks together");
    training::add_count(line, "--samples", options.samples, "samples in the data set");
    training::add_count(line, "--dim", options.dim, "numbers in a sample");
    training::add_common(line, options.lr, options.seed, options.json);
    return line.parse(argc, argv);
}

void run(const Options& options) {
    const auto launched = training::launcher();
    const bool first = !launched || launched->rank == 0;
    if (options.mode != "dp")
        training::check_batch_size(options.batch_size,
                                   launched ? launched->world_size : options.world_size);

    // DataParallel runs in one process, and its threads end before any rank is forked.
    std::optional<Results> dp;
    if (options.mode != "ddp" && first) dp = train_dp(options);
    if (options.mode == "dp") {
        if (first) report(options, dp, std::nullopt);
        return;
    }

    const auto run_rank = [&](int rank) {
        const auto group = dist::init_process_group();
        const Results ddp = train_ddp(options, *group);
        if (rank == 0) report(options, dp, ddp);
        dist::destroy_process_group();
    };
    if (launched)
        run_rank(launched->rank);
    else
        dist::spawn(run_rank, options.world_size);
}

}  // namespace

int main(int argc, char** argv) {
    return training::run("simple_model", [&] {
        extras::use_all();
        Options options;
        if (parse_options(argc, argv, options)) run(options);
    });
}
