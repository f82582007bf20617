// libmini's worker of compare.py. PyTorch's worker is torch_worker.py.
//
//     bench_worker step --model convnet --batch 64 --threads 2    a training step
//     bench_worker copy --bytes 1048576                           a copy by one thread
//     bench_worker data --case mnist --batch 64 --workers 2       samplers and loaders
//     minirun -n 2 bench_worker first-step --data DIR             from start to step 1
//
// A worker keeps its model and its memory warm. It reads lines from stdin, each a number
// of seconds, measures for about that time, and prints one line of JSON per line.
// first-step reads nothing, and prints its line at the end.

#include <sys/resource.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>
#include <string>
#include <vector>

#include "labs/measure/machine_limits.hpp"
#include "labs/measure/timing.hpp"
#include "libmini/autograd/functions.hpp"
#include "libmini/core/error.hpp"
#include "libmini/core/parallel.hpp"
#include "libmini/data/distributed_sampler.hpp"
#include "libmini/data/loader.hpp"
#include "libmini/data/partition.hpp"
#include "libmini/data/tensor_dataset.hpp"
#include "libmini/datasets/locate.hpp"
#include "libmini/distributed/launch/default_group.hpp"
#include "libmini/extras/use_all.hpp"
#include "libmini/nn/models.hpp"
#include "libmini/optim/sgd.hpp"
#include "libmini/parallel/ddp.hpp"
#include "libmini/program/command_line.hpp"
#include "libmini/random/random.hpp"
#include "libmini/training/parts.hpp"
#include "libmini/training/program.hpp"
#include "libmini/vision/resnet.hpp"

namespace {

using Json = nlohmann::ordered_json;
using mini::Tensor;
namespace nn = mini::nn;

struct Options {
    std::string model = "convnet", data, device = "cpu", data_case = "randperm";
    int64_t batch = 64, bytes = 1 << 20, samples = 10'000'000, images = 60'000;
    int threads = 1, steps = 20, workers = 0;
};

// Answers each line of stdin, a number of seconds, with a line of JSON.
void answer(const std::function<Json(double seconds)>& measure) {
    double seconds = 0;
    while (std::cin >> seconds) std::cout << measure(seconds).dump() << std::endl;
}

struct Network {
    std::unique_ptr<nn::Module> module;
    mini::Shape image;  // (C, H, W)
};

Network make_network(const std::string& name) {
    if (name == "resnet18")
        return {std::unique_ptr<nn::Module>(
                    new nn::ResNet(nn::resnet18({.num_classes = 10}))),
                {3, 32, 32}};
    if (name == "resnet50")
        return {std::unique_ptr<nn::Module>(new nn::ResNet(nn::resnet50())),
                {3, 224, 224}};
    return {std::make_unique<nn::ConvNet>(), {1, 28, 28}};
}

int64_t count(const std::vector<Tensor>& tensors) {
    int64_t numbers = 0;
    for (const Tensor& tensor : tensors) numbers += tensor.numel();
    return numbers;
}

// The optimizer is the tutorial's: SGD with momentum. The batch is always the same. On a GPU, ten
// steps are enqueued before the host waits for them.
void answer_step(const Options& options) {
    mini::set_num_threads(options.threads);
    mini::manual_seed(1);
    const mini::Device device = mini::Device::parse(options.device);
    const Network network = make_network(options.model);
    network.module->to(device);
    mini::optim::SGD optimizer(network.module->parameters(),
                               {.lr = 0.01, .momentum = 0.5});
    mini::Shape shape = network.image;
    shape.insert(shape.begin(), options.batch);
    Tensor images = Tensor::empty(shape);
    mini::fill_normal(images.span<float>(), 0, 1, mini::default_generator());
    images = images.to(device);
    const Tensor labels = Tensor::zeros({options.batch}, mini::DType::kInt64, device);
    const int at_a_time = device.is_cpu() ? 1 : 10;
    const auto steps = [&] {
        for (int i = 0; i < at_a_time; ++i) {
            optimizer.zero_grad();
            cross_entropy((*network.module)(images), labels).backward();
            optimizer.step();
        }
        mini::synchronize(device);
    };
    steps();
    answer([&](double seconds) {
        return Json{{"ms", mini::seconds_each(seconds, steps) * 1e3 / at_a_time},
                    {"parameters", count(network.module->parameters())}};
    });
}

// Returns MNIST's first images, or the embedded digits'.
std::shared_ptr<const mini::data::Dataset> first_images(const Options& options) {
    const auto images =
        mini::data::load_data(mini::data::find_data(options.data), /*train=*/true);
    if (options.images >= images->size()) return images;
    std::vector<int64_t> first(static_cast<size_t>(options.images));
    std::iota(first.begin(), first.end(), 0);
    return std::make_shared<mini::data::Partition>(images, first);
}

// Returns a pass of a case.
std::function<void()> data_pass(const Options& o) {
    namespace data = mini::data;
    if (o.data_case == "randperm")
        return [n = o.samples, generator = mini::Generator(0)]() mutable {
            mini::randperm(n, generator);
        };
    if (o.data_case == "distributed_sampler")
        return [epoch = int64_t{0},
                sampler = std::make_shared<data::DistributedSampler>(
                    o.samples, data::DistributedSamplerOptions{.num_replicas = 3,
                                                               .rank = 0})]() mutable {
            sampler->set_epoch(epoch++);
            sampler->indices();
        };

    // A thousand epochs of two batches of one number, or an epoch of images.
    const bool is_short = o.data_case == "short_epochs";
    std::shared_ptr<const data::Dataset> dataset;
    if (is_short)
        dataset =
            std::make_shared<data::TensorDataset>(Tensor::zeros({2}), Tensor::zeros({2}));
    else
        dataset = first_images(o);
    const auto loader = std::make_shared<data::DataLoader>(
        dataset, data::DataLoaderOptions{.batch_size = is_short ? 1 : o.batch,
                                         .shuffle = !is_short,
                                         .num_workers = o.workers});
    return [loader, epochs = is_short ? 1000 : 1] {
        for (int e = 0; e < epochs; ++e) {
            auto epoch = loader->epoch();
            while (epoch.next()) continue;
        }
    };
}

double peak_mebibytes() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return static_cast<double>(usage.ru_maxrss) / 1024;
}

// Trains some steps with DistributedDataParallel, as train_mnist does. Rank 0 prints the
// time at which the first step ended (of the monotonic clock, which all processes share),
// and the peak memory of the largest rank.
void run_first_step(const Options& options) {
    const auto group = mini::training::join_group();
    const mini::training::Options job;  // the tutorial's batch size
    const auto data = mini::training::load_data(mini::data::find_data(options.data));
    auto loader = mini::training::training_loader(
        job, data, group->rank(), group->world_size(), mini::Device::cpu());
    mini::manual_seed(1);
    nn::ConvNet model;
    mini::parallel::DistributedDataParallel ddp(model);
    mini::optim::SGD optimizer(model.parameters(), {.lr = 0.01, .momentum = 0.5});
    auto epoch = loader.epoch();
    double first = 0;
    for (int i = 0; i < options.steps; ++i) {
        const auto batch = epoch.next();
        if (!batch) break;
        optimizer.zero_grad();
        cross_entropy(ddp(batch->data), batch->target).backward();
        optimizer.step();
        const std::chrono::duration<double> now =
            std::chrono::steady_clock::now().time_since_epoch();
        if (i == 0) first = now.count();
    }
    Tensor peak = Tensor::scalar(static_cast<float>(peak_mebibytes()));
    group->all_reduce(peak, mini::dist::ReduceOp::kMax);
    if (group->rank() == 0)
        std::cout << Json{{"first_step_at", first}, {"mib", peak.item()}}.dump()
                  << std::endl;
    mini::dist::destroy_process_group();
}

void declare(mini::CommandLine& line, Options& o) {
    line.require_command();
    mini::Command step = line.add_command("step", "a training step");
    step.add("--model", o.model, "").one_of({"convnet", "resnet18", "resnet50"});
    step.add("--batch", o.batch, "images").at_least(1);
    step.add("--threads", o.threads, "threads").at_least(1);
    step.add("--device", o.device, "cpu or cuda");
    step.on_parsed([&o] { answer_step(o); });

    mini::Command copy = line.add_command("copy", "a copy by one thread");
    copy.add("--bytes", o.bytes, "bytes").at_least(1);
    copy.on_parsed([&o] {
        answer([&](double seconds) {
            return Json{{"us", mini::copy_seconds(o.bytes, seconds) * 1e6}};
        });
    });

    mini::Command data = line.add_command("data", "samplers and loaders");
    data.add("--case", o.data_case, "")
        .one_of({"distributed_sampler", "randperm", "mnist", "short_epochs"});
    data.add("--samples", o.samples, "indices to permute").at_least(1);
    data.add("--images", o.images, "images to load").at_least(1);
    data.add("--data", o.data, "as of train_mnist");
    data.add("--batch", o.batch, "images").at_least(1);
    data.add("--workers", o.workers, "threads of the loader").at_least(0);
    data.on_parsed([&o] {
        const auto pass = data_pass(o);
        pass();
        answer([&](double seconds) {
            return Json{{"s", mini::seconds_each(seconds, pass)}};
        });
    });

    mini::Command first = line.add_command("first-step", "from the start to step 1");
    first.add("--data", o.data, "as of train_mnist");
    first.add("--steps", o.steps, "steps").at_least(1);
    first.on_parsed([&o] { run_first_step(o); });
}

}  // namespace

int main(int argc, char** argv) {
    return mini::training::run("bench_worker", [&] {
        mini::extras::use_all();
        Options options;
        mini::CommandLine line("Measures one thing for tests/bench/compare.py.",
                               "bench_worker");
        declare(line, options);
        line.parse(argc, argv);
    });
}
