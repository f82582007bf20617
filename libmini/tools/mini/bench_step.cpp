#include "libmini/autograd/functions.hpp"
#include "libmini/core/random.hpp"
#include "libmini/nn/models.hpp"
#include "libmini/optim/sgd.hpp"
#include "libmini/parallel/captured_step.hpp"
#include "libmini/tools/mini/bench_device.hpp"

namespace mini::tools {
namespace {

nlohmann::ordered_json row(const char* step, int64_t batch, double microseconds) {
    const double steps = 1e6 / microseconds;
    return {{"step", step},
            {"batch", batch},
            {"us", microseconds},
            {"steps/s", steps},
            {"images/s", steps * static_cast<double>(batch)}};
}

}  // namespace

nlohmann::ordered_json bench_train_step(Device device,
                                        const DeviceBenchOptions& options) {
    manual_seed(1);
    nn::ConvNet model;
    model.to(device);
    optim::SGD optimizer(model.parameters(), {.lr = 0.01, .momentum = 0.5});
    const Tensor images =
        Tensor::ones({options.batch, 1, 28, 28}, DType::kFloat32, device);
    const Tensor labels = Tensor::ones({options.batch}, DType::kInt64, device);

    auto rows = nlohmann::ordered_json::array();
    const double plain = microseconds_each(device, options.seconds, [&] {
        optimizer.zero_grad();
        Tensor loss = cross_entropy(model(images), labels);
        loss.backward();
        optimizer.step();
    });
    rows.push_back(row("ConvNet, SGD", options.batch, plain));
    if (!options.graph) return rows;

    // Two steps warm up, and the third is recorded.
    parallel::CapturedStep step(optimizer, [&](const std::vector<Tensor>& batch) {
        return cross_entropy(model(batch[0]), batch[1]);
    });
    for (int i = 0; i < 3; ++i) step({images, labels});
    const double replayed = microseconds_each(device, options.seconds, [&] {
        step({images, labels});
    });
    rows.push_back(row("CUDA graph", options.batch, replayed));
    return rows;
}

}  // namespace mini::tools
