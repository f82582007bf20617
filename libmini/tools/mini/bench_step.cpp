#include <cstdint>
#include <memory>
#include <string>

#include "libmini/autograd/functions.hpp"
#include "libmini/nn/models.hpp"
#include "libmini/nn/resnet.hpp"
#include "libmini/optim/sgd.hpp"
#include "libmini/random/random.hpp"
#include "libmini/tools/mini/bench_device.hpp"

namespace mini::tools {
namespace {

struct Network {
    const char* row;
    std::unique_ptr<nn::Module> module;
    Shape image;  // (C, H, W)
};

Network make_network(const std::string& name) {
    if (name == "resnet18")
        return {"ResNet-18, SGD",
                std::unique_ptr<nn::Module>(
                    new nn::ResNet(nn::resnet18({.num_classes = 10}))),
                {3, 32, 32}};
    if (name == "resnet50")
        return {"ResNet-50, SGD",
                std::unique_ptr<nn::Module>(new nn::ResNet(nn::resnet50())),
                {3, 224, 224}};
    return {"ConvNet, SGD", std::make_unique<nn::ConvNet>(), {1, 28, 28}};
}

// Returns the classes 0 to 9 in turn.
Tensor make_labels(int64_t batch, Device device) {
    Tensor labels = Tensor::empty({batch}, DType::kInt64);
    int64_t next = 0;
    for (int64_t& label : labels.span<int64_t>()) label = next++ % 10;
    return labels.to(device);
}

}  // namespace

void bench_train_step(Device device, const DeviceBenchOptions& options, BenchRows& rows) {
    manual_seed(1);
    const Network network = make_network(options.model);
    network.module->to(device);
    optim::SGD optimizer(network.module->parameters(), {.lr = 0.01, .momentum = 0.5});
    Shape shape = network.image;
    shape.insert(shape.begin(), options.batch);
    const Tensor images = random_numbers(shape, device);
    const Tensor labels = make_labels(options.batch, device);

    rows.begin({network.row, options.batch});
    const double time = microseconds_each(device, options.seconds, [&] {
        optimizer.zero_grad();
        cross_entropy((*network.module)(images), labels).backward();
        optimizer.step();
    });
    const double steps = 1e6 / time;
    rows.end({time, steps, steps * static_cast<double>(options.batch)});
}

}  // namespace mini::tools
