#include <functional>
#include <vector>

#include "libmini/autograd/functions.hpp"
#include "libmini/nn/models.hpp"
#include "libmini/optim/sgd.hpp"
#include "libmini/random/random.hpp"
#include "libmini/tools/mini/bench_device.hpp"

namespace mini::tools {
namespace {

// Measures a training step and adds the result to the table as a row.
void measure(const char* name, Device device, const DeviceBenchOptions& options,
             BenchRows& rows, const std::function<void()>& step) {
    rows.begin({name, options.batch});
    const double time = microseconds_each(device, options.seconds, step);
    const double steps = 1e6 / time;
    rows.end({time, steps, steps * static_cast<double>(options.batch)});
}

}  // namespace

void bench_train_step(Device device, const DeviceBenchOptions& options, BenchRows& rows) {
    manual_seed(1);
    nn::ConvNet model;
    model.to(device);
    optim::SGD optimizer(model.parameters(), {.lr = 0.01, .momentum = 0.5});
    const Tensor images =
        Tensor::ones({options.batch, 1, 28, 28}, DType::kFloat32, device);
    const Tensor labels = Tensor::ones({options.batch}, DType::kInt64, device);

    measure("ConvNet, SGD", device, options, rows, [&] {
        optimizer.zero_grad();
        Tensor loss = cross_entropy(model(images), labels);
        loss.backward();
        optimizer.step();
    });
}

}  // namespace mini::tools
