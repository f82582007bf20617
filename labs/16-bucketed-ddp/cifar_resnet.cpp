// cifar_resnet: ResNet on CIFAR-10 with DistributedDataParallel. Follows a tutorial, from
// torch.distributed.is_available() to the saved model.
//
//     cifar_resnet                                     one rank, on images drawn here
//     minirun -n 2 cifar_resnet --data DIR             two ranks, on CIFAR-10
//     cifar_resnet --rank 0 --world-size 2 &           two ranks started by hand,
//     cifar_resnet --rank 1 --world-size 2             which meet at localhost:23456
//     minirun -n 2 cifar_resnet --device cuda          two ranks, real or simulated GPUs
//
// The tutorial's mistakes are corrected here, with a comment at each: the backend, the
// number of classes, the averaging at the end, the saved state, and the rank that saves
// the state.
//
// Exit codes: 0 done, 1 failed, 2 invalid options.

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "cifar_options.hpp"
#include "drawn_images.hpp"
#include "libmini/autograd/functions.hpp"
#include "libmini/core/error.hpp"
#include "libmini/core/events.hpp"
#include "libmini/data/distributed_eval_sampler.hpp"
#include "libmini/data/distributed_sampler.hpp"
#include "libmini/data/loader.hpp"
#include "libmini/datasets/cifar10.hpp"
#include "libmini/distributed/launch/default_group.hpp"
#include "libmini/distributed/rendezvous/rank_variables.hpp"
#include "libmini/extras/use_all.hpp"
#include "libmini/io/safetensors.hpp"
#include "libmini/optim/lr_scheduler.hpp"
#include "libmini/optim/sgd.hpp"
#include "libmini/parallel/average_parameters.hpp"
#include "libmini/parallel/broadcast_coalesced.hpp"
#include "libmini/parallel/ddp.hpp"
#include "libmini/parallel/zero.hpp"
#include "libmini/random/random.hpp"
#include "libmini/tensor/tensor.hpp"
#include "libmini/training/accuracy.hpp"
#include "libmini/training/digests.hpp"
#include "libmini/training/program.hpp"
#include "libmini/training/rank_device.hpp"
#include "libmini/training/run_observer.hpp"
#include "libmini/vision/resnet.hpp"

namespace {

using cifar_resnet::Options;
using mini::EventLog, mini::EventSpan;
using mini::Tensor, mini::UsageError, mini::concat;
using mini::data::Batch, mini::data::DataLoader, mini::data::ImageDataset;
namespace dist = mini::dist;
namespace training = mini::training;
using Observer = std::unique_ptr<training::RunObserver>;  // null without --logdir

struct Data {
    std::shared_ptr<ImageDataset> train, test;
};

struct Results {
    std::vector<double> train_loss, test_accuracy;  // one per epoch
    std::vector<std::string> devices;               // one per rank: "cuda:1"
    std::vector<std::string> state_sha256;          // one per rank
    std::vector<std::string> sha256_before_averaging;
    double averaged_accuracy = 0.0;
};

Data load(const Options& options) {
    if (options.data == "synthetic")
        return {cifar_resnet::draw_images(options.samples, 1),
                cifar_resnet::draw_images((options.samples + 3) / 4, 2)};
    return {mini::data::load_cifar10(options.data, true),
            mini::data::load_cifar10(options.data, false)};
}

double mean_over_ranks(double value) {
    const Tensor mean = Tensor::scalar(static_cast<float>(value));
    dist::default_group()->all_reduce(mean, dist::ReduceOp::kAvg);
    return mean.item();
}

// Trains on one batch; returns the loss of this rank.
double step(mini::nn::Module& model, const Batch& batch,
            mini::optim::Optimizer& optimizer, mini::Device device, EventLog* events) {
    const Tensor loss = [&] {
        const EventSpan span(events, "forward");
        const Tensor outputs = model(batch.data.to(device));
        return mini::cross_entropy(outputs, batch.target.to(device));
    }();
    {
        const EventSpan span(events, "backward");
        optimizer.zero_grad();
        loss.backward();
    }
    const EventSpan span(events, "optimizer");
    optimizer.step();
    return loss.item();
}

// Trains one epoch on this rank's batches; returns the mean loss of all ranks.
double train_epoch(mini::nn::Module& model, DataLoader& loader,
                   mini::optim::Optimizer& optimizer, mini::Device device, int64_t epoch,
                   const Observer& observer) {
    model.train();
    EventLog* const events = observer ? &dist::default_group()->events() : nullptr;
    auto batches = loader.epoch();
    double sum = 0.0;
    for (int64_t i = 0; i < loader.size(); ++i) {
        double loss = 0.0;
        const int64_t number = epoch * loader.size() + i;
        {
            const EventSpan whole(events, "step", number);
            const Batch batch = [&] {
                const EventSpan span(events, "data");
                return *batches.next();
            }();
            loss = step(model, batch, optimizer, device, events);
        }
        if (observer) observer->add_step({.epoch = epoch, .step = number, .loss = loss});
        sum += loss;
    }
    return mean_over_ranks(sum / static_cast<double>(loader.size()));
}

// Returns the share of correctly classified test images; each image is counted once.
//
// DistributedSampler would pad the ranks' parts to equal lengths, and count some images
// twice.
double evaluate(mini::nn::Module& model, const Data& data, mini::Device device) {
    training::OnDevice there(model, device);
    const auto sampler = std::make_shared<mini::data::DistributedEvalSampler>(*data.test);
    DataLoader loader(data.test, {.batch_size = 100, .sampler = sampler});
    return training::count_correct(there, loader, *dist::default_group()).share();
}

// Returns the SHA-256 of each rank's state, including the running means.
std::vector<std::string> digests(const mini::nn::Module& model) {
    std::vector<Tensor> state;
    for (const auto& [name, tensor] : model.state_dict()) state.push_back(tensor);
    return training::digests(*dist::default_group(), state);
}

// Returns the tutorial's SGD; with --zero, each rank has the momentum of its own
// parameters only.
std::unique_ptr<mini::optim::Optimizer> make_optimizer(const Options& options,
                                                       std::vector<Tensor> parameters) {
    const auto make_sgd = [lr = options.lr](std::vector<Tensor> own) {
        return std::make_unique<mini::optim::SGD>(
            std::move(own), mini::optim::SGDOptions{.lr = lr, .momentum = 0.9});
    };
    if (!options.zero) return make_sgd(std::move(parameters));
    return std::make_unique<mini::parallel::ZeroRedundancyOptimizer>(
        std::move(parameters), make_sgd);
}

// Trains for all epochs; rank 0 reports. `model` is DDP, or a plain model without
// communication.
Results train(const Options& options, mini::nn::Module& model, const Data& data,
              mini::Device device) {
    // The sampler shuffles, so the loader does not. A smaller last batch is left out:
    // BatchNorm has no variance of a single image. The tutorial's batch size of 128 is
    // per rank: on two ranks the global batch is twice as large, with a learning rate
    // chosen for one rank. Here the batch size is that of all ranks together.
    const auto train_sampler = std::make_shared<mini::data::DistributedSampler>(
        *data.train, mini::data::DistributedSamplerOptions{.seed = options.seed});
    DataLoader train_loader(data.train,
                            {.batch_size = options.batch_size / dist::get_world_size(),
                             .sampler = train_sampler,
                             .drop_last = true,
                             .num_workers = 2});
    const auto optimizer = make_optimizer(options, model.parameters());
    mini::optim::CosineAnnealingLR scheduler(*optimizer, options.epochs);

    const Observer observer = training::observe_run(
        options.logdir, {.program = "cifar_resnet", .options = options.values}, model,
        dist::default_group());
    Results results;
    for (int64_t epoch = 0; epoch < options.epochs; ++epoch) {
        const auto start = std::chrono::steady_clock::now();
        const double lr = optimizer->lr();
        train_sampler->set_epoch(
            epoch);  // without it every epoch has the first epoch's order
        results.train_loss.push_back(
            train_epoch(model, train_loader, *optimizer, device, epoch, observer));
        const std::chrono::duration<double> elapsed =
            std::chrono::steady_clock::now() - start;
        scheduler.step();

        // Each rank's running means come from its own batches. DDP broadcasts rank 0's
        // running means before the next step. Broadcast them now, so that all ranks test
        // the model that is saved.
        if (!options.average_at_end)
            mini::parallel::broadcast_coalesced(*dist::default_group(), model.buffers(),
                                                0);
        results.test_accuracy.push_back(evaluate(model, data, device));
        if (observer)
            observer->add_epoch({.epoch = epoch,
                                 .steps = (epoch + 1) * train_loader.size(),
                                 .train_loss = results.train_loss.back(),
                                 .test_accuracy = results.test_accuracy.back(),
                                 .lr = lr,
                                 .seconds = elapsed.count()});
        if (dist::get_rank() == 0 && !options.json)
            std::cout << fmt::format("epoch {:>2}   loss {:.4f}   test accuracy {:.4f}\n",
                                     epoch, results.train_loss.back(),
                                     results.test_accuracy.back())
                      << std::flush;
    }
    return results;
}

// Trains with DDP or, with --average-at-end, without DDP, and then averages the
// parameters. With DDP every step averages the gradients, and replicas that start equal
// stay equal.
//
// The tutorial ends with dist.all_reduce(model.parameters()), with three mistakes: a list
// is not a tensor, a sum is not an average, and averaging equal replicas has no effect.
// Averaging at the end instead of using DDP is a different training: each replica sees
// only its own part of the data and drifts towards its own minimum, and the mean of two
// minima is not a minimum.
Results train_together(const Options& options, mini::nn::Module& model, const Data& data,
                       mini::Device device) {
    Results results;
    if (!options.average_at_end) {
        mini::parallel::DistributedDataParallel ddp(model);
        results = train(options, ddp, data, device);
    } else {
        results = train(options, model, data, device);
        results.sha256_before_averaging = digests(model);
        mini::parallel::average_parameters(model, *dist::default_group());
        results.averaged_accuracy = evaluate(model, data, device);
    }
    results.devices = training::devices_of_ranks(*dist::default_group(), device);
    results.state_sha256 = digests(model);
    return results;
}

void report(const Options& options, const Results& results) {
    const auto replicas = [](const std::vector<std::string>& digests) {
        return training::all_equal(digests) ? "bitwise identical" : "different";
    };
    if (options.json) {
        const nlohmann::ordered_json json = {
            {"world_size", dist::get_world_size()},
            {"model", options.model},
            {"devices", results.devices},
            {"train_loss", results.train_loss},
            {"test_accuracy", results.test_accuracy},
            {"state_sha256", results.state_sha256},
            {"sha256_before_averaging", results.sha256_before_averaging},
            {"averaged_accuracy", results.averaged_accuracy}};
        std::cout << json.dump() << std::endl;
        return;
    }
    if (options.device != "cpu")
        std::cout << fmt::format("devices    {}\n", fmt::join(results.devices, ", "));
    if (options.average_at_end)
        std::cout << fmt::format(
            "averaged   replicas were {}; test accuracy of their mean {:.4f}\n",
            replicas(results.sha256_before_averaging), results.averaged_accuracy);
    std::cout << "replicas   " << replicas(results.state_sha256) << std::endl;
}

// Joins the group, by the launcher's variables or by the options. A single rank uses any
// free port.
void meet(const Options& options) {
    dist::InitOptions init{.backend = options.backend};
    if (!options.launched) {
        const int port = options.world_size == 1 ? 0 : options.port;
        init.init_method = concat("tcp://localhost:", port);
        init.rank = options.rank;
        init.world_size = options.world_size;
    }
    dist::init_process_group(init);
}

// Returns this rank's device. Without a launcher, all ranks are on this machine.
mini::Device device_of(const Options& options) {
    const auto device = training::launched_device(options.device);
    return device ? *device : training::device_of_rank(options.device, options.rank);
}

// CIFAR-10 has 10 classes; the tutorial's resnet50() has 1,000. resnet10 has one block
// per layer, the smallest possible ResNet, for quick tests.
mini::nn::ResNet make_model(const std::string& name) {
    using mini::nn::ResNet, mini::nn::ResNetBlock;
    const mini::nn::ResNetOptions classes{.num_classes = 10};
    if (name == "resnet10") return ResNet(ResNetBlock::kBasic, {1, 1, 1, 1}, classes);
    return name == "resnet50" ? mini::nn::resnet50(classes) : mini::nn::resnet18(classes);
}

// Runs the job of one rank, after all ranks have joined.
void run(const Options& options, const Data& data, mini::Device device) {
    mini::manual_seed(options.seed);  // so that replicas start equal without a broadcast
    mini::nn::ResNet model = make_model(options.model);
    model.to(device);
    const Results results = train_together(options, model, data, device);
    if (dist::get_rank() != 0) return;

    // Save on one rank only: several ranks would write the same file. Save the model, not
    // DDP, which prefixes all names with "module.", so that torchvision's ResNet can load
    // the file.
    if (!options.save.empty())
        mini::io::save_safetensors(options.save, model.state_dict());
    report(options, results);
}

// The tutorial uses nccl but leaves the model on the CPU, which nccl does not support.
void check_backend(const std::string& backend) {
    if (!dist::is_available(backend))
        throw UsageError("--backend ", backend,
                         " is not available in this build; try --backend ring");
}

// Throws UsageError if there are fewer images than the batch size: DistributedSampler
// would fill the batch with repeated images.
void check_size(const Options& options, const Data& data) {
    if (data.train->size() < options.batch_size)
        throw UsageError("--batch-size ", options.batch_size, " is more than the ",
                         data.train->size(), " training images there are");
}

}  // namespace

int main(int argc, char** argv) {
    return training::run("cifar_resnet", [&] {
        mini::extras::use_all();
        const auto options =
            cifar_resnet::parse_options(argc, argv, training::launcher());
        if (!options) return;
        check_backend(options->backend);

        // Choose the GPU before creating the group: otherwise the group's threads would
        // open another GPU.
        const mini::Device device = device_of(*options);
        meet(*options);
        Data data;
        training::on_all_ranks(*dist::default_group(), [&] {
            data = load(*options);
            check_size(*options, data);
        });
        run(*options, data, device);
        dist::destroy_process_group();
    });
}
