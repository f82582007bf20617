// zero_memory: the measurement of lab 19. Trains a ResNet for a few steps, and counts the
// bytes of tensors that a rank holds.
//
//     minirun -n 4 zero_memory --stage 2 [--model resnet18] [--bucket-cap-mb 25]
//
// --stage 0 is DDP with an unsharded optimizer, 1 shards the optimizer's state, 2 also
// shards the gradients. Each rank is a process, so the counter of the allocator
// (tensor/buffer_cache.hpp) counts this rank only. Rank 0 prints one line of JSON; each
// list has one number per rank:
//
//     parameters    bytes allocated by the construction of the model, with buffers
//     state         bytes allocated by the first step, and kept
//     gradients     all other bytes between the last backward() and step()
//     peak          highest number of bytes in the last step, with activations
//     sha256        of the parameters after the last step

#include <cstddef>
#include <cstdint>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "libmini/autograd/functions.hpp"
#include "libmini/extras/use_all.hpp"
#include "libmini/optim/adam.hpp"
#include "libmini/parallel/ddp.hpp"
#include "libmini/parallel/reduce_scatter_hook.hpp"
#include "libmini/parallel/zero.hpp"
#include "libmini/program/command_line.hpp"
#include "libmini/random/random.hpp"
#include "libmini/tensor/buffer_cache.hpp"
#include "libmini/training/common_options.hpp"
#include "libmini/training/digests.hpp"
#include "libmini/training/program.hpp"
#include "libmini/vision/resnet.hpp"

using namespace mini;

namespace {

struct Options {
    int stage = 0;
    std::string model = "resnet18";
    int64_t steps = 4;  // DDP rebuilds its buckets before the second step
    int64_t batch_size = 2;
    double bucket_cap_mb = 25;
};

struct Bytes {
    int64_t parameters = 0, gradients = 0, state = 0, peak = 0;
};

int64_t allocated() { return static_cast<int64_t>(allocated_bytes()); }

nn::ResNet make_model(const std::string& name) {
    const nn::ResNetOptions classes{.num_classes = 10};
    if (name == "resnet18") return nn::resnet18(classes);
    return nn::ResNet(nn::ResNetBlock::kBasic, {1, 1, 1, 1}, classes);
}

std::unique_ptr<optim::Optimizer> make_adam(std::vector<Tensor> parameters) {
    return std::make_unique<optim::Adam>(std::move(parameters));
}

// Runs forward and backward on noise, which is different on each rank.
void backward(nn::Module& model, const Options& options, int rank, int64_t step) {
    Tensor images = Tensor::empty({options.batch_size, 3, 32, 32});
    Generator generator(static_cast<uint64_t>(1000 * step + rank));
    fill_uniform(images.span<float>(), 0.0, 1.0, generator);
    const Tensor labels = Tensor::zeros({options.batch_size}, DType::kInt64);
    cross_entropy(model(images), labels).backward();
}

Bytes train(nn::Module& model, const Options& options,
            const std::shared_ptr<dist::ProcessGroup>& group) {
    Bytes bytes;
    const int64_t before = allocated();
    parallel::DistributedDataParallel ddp(
        model, {.bucket_cap_mb = options.bucket_cap_mb, .process_group = group});
    std::unique_ptr<optim::Optimizer> optimizer;
    if (options.stage == 0) {
        optimizer = make_adam(model.parameters());
    } else {
        auto zero = std::make_unique<parallel::ZeroRedundancyOptimizer>(
            model.parameters(), make_adam, group);
        if (options.stage == 2)
            ddp.register_comm_hook(parallel::reduce_scatter_hook(*zero));
        optimizer = std::move(zero);
    }

    for (int64_t step = 0; step < options.steps; ++step) {
        reset_peak_bytes();
        optimizer->zero_grad();
        backward(ddp, options, group->rank(), step);
        const int64_t after_backward = allocated();
        bytes.gradients = after_backward - before - bytes.state;
        optimizer->step();
        if (step == 0) bytes.state = allocated() - after_backward;
    }
    bytes.peak = static_cast<int64_t>(max_allocated_bytes());
    return bytes;
}

// Returns one number per rank.
std::vector<int64_t> gather(dist::ProcessGroup& group, int64_t number) {
    std::vector<Tensor> all;
    for (int rank = 0; rank < group.world_size(); ++rank)
        all.push_back(cpu_tensor(std::vector<int64_t>{0}));
    group.all_gather(all, cpu_tensor(std::vector<int64_t>{number}));
    std::vector<int64_t> numbers;
    for (const Tensor& each : all) numbers.push_back(each.to_vector<int64_t>()[0]);
    return numbers;
}

void run(const Options& options) {
    const auto group = training::join_group();
    manual_seed(1);
    const int64_t before = allocated();
    nn::ResNet model = make_model(options.model);
    const int64_t parameters = allocated() - before;
    const Bytes bytes = train(model, options, group);

    const nlohmann::ordered_json json = {
        {"stage", options.stage},
        {"world_size", group->world_size()},
        {"parameters", gather(*group, parameters)},
        {"gradients", gather(*group, bytes.gradients)},
        {"state", gather(*group, bytes.state)},
        {"peak", gather(*group, bytes.peak)},
        {"sha256", training::digests(*group, model.parameters())}};
    if (group->rank() == 0) std::cout << json.dump() << std::endl;
    group->shutdown();
}

}  // namespace

int main(int argc, char** argv) {
    return training::run("zero_memory", [&] {
        extras::use_all();
        Options options;
        CommandLine line("Counts the bytes of a rank with a sharded optimizer.",
                         "zero_memory");
        line.add("--stage", options.stage,
                 "0 nothing sharded, 1 the state, 2 gradients too")
            .range(0, 2);
        line.add("--model", options.model, "which network")
            .one_of({"resnet10", "resnet18"});
        line.add("--steps", options.steps, "steps of Adam, at least 3").at_least(3);
        line.add("--bucket-cap-mb", options.bucket_cap_mb, "bucket size of DDP, in MiB")
            .at_least(1e-9);
        training::add_count(line, "--batch-size", options.batch_size, "images of a rank");
        if (line.parse(argc, argv)) run(options);
    });
}
