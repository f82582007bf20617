// linear_ddp: one linear layer, trained on several ranks as on one rank.
//
//     minirun -n 2 linear_ddp                 trains
//     minirun -n 2 linear_ddp --overlapped    trains with OverlappedModule
//     minirun -n 2 linear_ddp --samplers      shows the indices of each sampler
//
// The tutorial's program with its mistakes corrected:
//
//     the tutorial                       the mistake                        here
//     device = torch.device('cuda')      all ranks share GPU 0              the CPU
//     no sampler.set_epoch(epoch)        all epochs have the same order     called
//     labels of shape (N)                MSELoss broadcasts them to (N, N)  (N, 1)
//                                          against outputs (N, 1)
//     DistributedSampler, its seed is    the same order for every seed of   seed + epoch
//       the epoch                          the job
//     indices += indices[:missing]       too few, if there are more         repeated
//                                          ranks than twice the samples       as needed
//
// Exit codes: 0 done, 1 failed, 2 invalid options.

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "libmini/autograd/functions.hpp"
#include "libmini/data/distributed_sampler.hpp"
#include "libmini/data/loader.hpp"
#include "libmini/data/tensor_dataset.hpp"
#include "libmini/distributed/launch/default_group.hpp"
#include "libmini/extras/use_all.hpp"
#include "libmini/nn/linear.hpp"
#include "libmini/optim/sgd.hpp"
#include "libmini/parallel/averaging_modules.hpp"
#include "libmini/parallel/ddp.hpp"
#include "libmini/random/random.hpp"
#include "libmini/training/common_options.hpp"
#include "libmini/training/digests.hpp"
#include "libmini/training/program.hpp"

using namespace mini;

namespace {

constexpr int64_t kFeatures = 10;
constexpr uint64_t kDataSeed = 1;
constexpr double kNoise =
    0.1;  // standard deviation; the loss cannot fall below its square

struct Options {
    int64_t epochs = 10;
    int64_t batch_size = 64;  // of each rank, as in the tutorial
    int64_t samples = 1000;
    double lr = 0.01;
    uint64_t seed = 0;
    bool overlapped = false;
    bool samplers = false;
    bool json = false;
};

struct Results {
    std::vector<double> train_loss;              // one per epoch, the mean over all ranks
    double parameter_error = 0.0;                // the largest error of the 11 parameters
    std::vector<std::string> parameters_sha256;  // one per rank
};

// The function to learn: y = 0.1 x[0] + 0.2 x[1] + ... + 1.0 x[9] + 0.5.
double true_weight(int64_t feature) { return 0.1 * static_cast<double>(feature + 1); }
constexpr double kTrueBias = 0.5;

// Returns the whole data set, the same on every rank: it is drawn from its own generator,
// so other draws of a rank cannot change the data.
std::shared_ptr<data::Dataset> make_dataset(int64_t samples) {
    Generator generator(kDataSeed);
    std::vector<float> x(static_cast<size_t>(samples * kFeatures));
    std::vector<float> y(static_cast<size_t>(samples));
    fill_normal(x, 0, 1, generator);
    fill_normal(y, 0, kNoise, generator);
    for (int64_t i = 0; i < samples; ++i) {
        double sum = kTrueBias;
        for (int64_t j = 0; j < kFeatures; ++j)
            sum += true_weight(j) * x[static_cast<size_t>(i * kFeatures + j)];
        y[static_cast<size_t>(i)] += static_cast<float>(sum);
    }
    return std::make_shared<data::TensorDataset>(Tensor::from(x, {samples, kFeatures}),
                                                 Tensor::from(y, {samples, 1}));
}

double largest_error(const nn::Linear& model) {
    double error = std::abs(model.bias.item() - kTrueBias);
    const auto weight = model.weight.to_vector<float>();
    for (int64_t j = 0; j < kFeatures; ++j)
        error =
            std::max(error, std::abs(weight[static_cast<size_t>(j)] - true_weight(j)));
    return error;
}

void report(const Options& options, int world_size, const Results& results) {
    if (options.json) {
        const nlohmann::ordered_json json = {
            {"world_size", world_size},
            {"epochs", options.epochs},
            {"batch_size", options.batch_size},
            {"samples", options.samples},
            {"train_loss", results.train_loss},
            {"parameter_error", results.parameter_error},
            {"parameters_sha256", results.parameters_sha256}};
        std::cout << json.dump() << std::endl;
        return;
    }
    std::cout << fmt::format(
        "\nTrained Linear(10, 1) by DDP, world size {}, {} samples per step on each "
        "rank.\n"
        "  loss       {:.4f}, of which the noise in the data is {:.4f}\n"
        "  parameters at most {:.4f} from the true parameters of the data\n"
        "  replicas   {}\n",
        world_size, options.batch_size, results.train_loss.back(), kNoise * kNoise,
        results.parameter_error, training::compare(results.parameters_sha256));
}

std::unique_ptr<nn::Module> wrap(const Options& options, nn::Linear& model) {
    if (options.overlapped) return std::make_unique<parallel::OverlappedModule>(model);
    return std::make_unique<parallel::DistributedDataParallel>(model);
}

void train(const Options& options, dist::ProcessGroup& group) {
    // Build the model; DDP gives every rank the parameters of rank 0.
    manual_seed(options.seed);
    nn::Linear model(kFeatures, 1);
    const std::unique_ptr<nn::Module> ddp = wrap(options, model);

    // Divide the samples; the sampler gets rank and world size from the default group.
    const auto dataset = make_dataset(options.samples);
    const auto sampler = std::make_shared<data::DistributedSampler>(
        *dataset, data::DistributedSamplerOptions{.seed = options.seed});
    data::DataLoader loader(dataset,
                            {.batch_size = options.batch_size, .sampler = sampler});

    optim::SGD optimizer(model.parameters(), {.lr = options.lr});
    Results results;
    for (int64_t epoch = 0; epoch < options.epochs; ++epoch) {
        sampler->set_epoch(epoch);
        double sum = 0.0;
        for (const data::Batch& batch : loader) {
            const Tensor loss = mse_loss((*ddp)(batch.data), batch.target);
            optimizer.zero_grad();
            loss.backward();  // leaves the mean gradient of all ranks on every rank
            optimizer.step();
            sum += loss.item() * static_cast<double>(batch.size());
        }

        // Average over the ranks; all have seen the same number of samples.
        const Tensor mean = Tensor::scalar(
            static_cast<float>(sum / static_cast<double>(sampler->size())));
        group.all_reduce(mean, dist::ReduceOp::kAvg);
        results.train_loss.push_back(mean.item());
        if (group.rank() == 0 && !options.json)
            std::cout << fmt::format("epoch {:>2}   loss {:.4f}\n", epoch + 1,
                                     mean.item());
    }
    results.parameter_error = largest_error(model);
    results.parameters_sha256 = training::parameter_digests(group, model);
    if (group.rank() == 0) report(options, group.world_size(), results);
}

// Prints the indices of each sampler for ten samples. One process can compute every
// rank's share.
void show_samplers(int world_size, uint64_t seed) {
    constexpr int64_t kSamples = 10;
    const auto show = [](const std::string& name, const std::vector<int64_t>& indices) {
        std::cout << fmt::format("{:<38}{}\n", name, fmt::join(indices, " "));
    };
    manual_seed(seed);
    show("SequentialSampler", data::SequentialSampler(kSamples).indices());
    show("RandomSampler", data::RandomSampler(kSamples).indices());
    show("SubsetRandomSampler of 2 4 6 8",
         data::SubsetRandomSampler({2, 4, 6, 8}).indices());
    show(
        "WeightedRandomSampler, 9 weighs most",
        data::WeightedRandomSampler({1, 1, 1, 1, 1, 1, 1, 1, 1, 20}, kSamples).indices());

    // Cut an order into batches.
    const auto in_order = std::make_shared<data::SequentialSampler>(kSamples);
    for (const bool drop_last : {false, true})
        for (const auto& batch : data::BatchSampler(in_order, 4, drop_last).batches())
            show(drop_last ? "BatchSampler of 4, drop_last" : "BatchSampler of 4", batch);

    // Divide among ranks; a new epoch has a new order only after set_epoch.
    for (const int64_t epoch : {0, 1})
        for (int rank = 0; rank < world_size; ++rank) {
            data::DistributedSampler sampler(
                kSamples, {.num_replicas = world_size, .rank = rank, .seed = seed});
            sampler.set_epoch(epoch);
            show(fmt::format("DistributedSampler, epoch {}, rank {}", epoch, rank),
                 sampler.indices());
        }
}

bool parse_options(int argc, char** argv, Options& options) {
    CommandLine line(
        "Trains a linear layer by DistributedDataParallel on generated data.\n"
        "On its own it is one rank; \"minirun -n 2 linear_ddp\" makes two.",
        "linear_ddp");
    training::add_count(line, "--epochs", options.epochs, "passes over the data");
    training::add_count(line, "--batch-size", options.batch_size,
                        "samples per step on each rank");
    training::add_count(line, "--samples", options.samples, "samples in the data set");
    line.add_flag("--overlapped", options.overlapped,
                  "train with OverlappedModule, which lab 15 writes");
    line.add_flag("--samplers", options.samplers,
                  "print each sampler's indices for ten samples; do not train");
    training::add_common(line, options.lr, options.seed, options.json);
    return line.parse(argc, argv);
}

}  // namespace

int main(int argc, char** argv) {
    return training::run("linear_ddp", [&] {
        extras::use_all();
        Options options;
        if (!parse_options(argc, argv, options)) return;
        const auto group = training::join_group();
        if (!options.samplers)
            train(options, *group);
        else if (group->rank() == 0)
            show_samplers(group->world_size(), options.seed);
        dist::destroy_process_group();
    });
}
