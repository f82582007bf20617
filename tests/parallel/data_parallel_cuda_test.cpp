// DataParallel on CUDA devices gives the same results as the module on one CPU, and
// counts the bytes that it copies between devices.

#include "libmini/parallel/data_parallel.hpp"

#include <cstdint>
#include <optional>

#include "libmini/nn/dropout.hpp"
#include "tests/parallel/devices.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/contains.hpp"

using namespace mini;
using namespace mini::test;
using parallel::DataParallel;

namespace {

parallel::ModuleFactory no_dropout_factory() {
    return [] {
        return std::make_unique<nn::ConvNet>(nn::ConvNetOptions{.dropout = false});
    };
}

// Returns `count` different CUDA devices, or std::nullopt, with a warning, if the machine
// has fewer.
std::optional<std::vector<Device>> distinct_devices(int count) {
    if (count <= cuda_device_count()) return cuda_devices(count);
    WARN("left out: there are " << cuda_device_count() << " CUDA devices, not " << count);
    return std::nullopt;
}

class Dropped : public nn::Module {
  public:
    Dropped() { register_module("drop", drop_); }
    Tensor forward(const Tensor& x) override { return drop_(x); }

  private:
    nn::Dropout drop_{0.5};
};

// Creates a tensor without giving a device.
class AddsOne : public nn::Module {
  public:
    Tensor forward(const Tensor& x) override { return x + Tensor::ones({1}); }
};

class DefaultDevice {
  public:
    explicit DefaultDevice(Device device) : before_(default_device()) {
        set_default_device(device);
    }
    ~DefaultDevice() { set_default_device(before_); }
    DefaultDevice(const DefaultDevice&) = delete;
    DefaultDevice& operator=(const DefaultDevice&) = delete;

  private:
    Device before_;
};

}  // namespace

TEST_CASE("DataParallel on CUDA devices trains like the module alone on the CPU") {
    const int count = GENERATE(1, 2, 3);
    const int64_t batch = GENERATE(1, 6, 7);
    CAPTURE(count, batch);
    const auto devices = distinct_devices(count);
    if (!devices) return;

    manual_seed(5);
    nn::ConvNet alone({.dropout = false});
    manual_seed(5);
    nn::ConvNet module({.dropout = false});
    module.to(Device::cuda(0));
    DataParallel net(module, no_dropout_factory(), {.device_ids = *devices});
    optim::SGD alone_sgd(alone.parameters(), {.lr = 0.01, .momentum = 0.5});
    optim::SGD sgd(module.parameters(), {.lr = 0.01, .momentum = 0.5});

    for (int64_t step = 0; step < 3; ++step) {
        const Digits all = digits(batch, step);
        train_step(alone, alone_sgd, all, Device::cpu());
        train_step(net, sgd, all, Device::cuda(0));
    }
    CHECK(largest_difference(flat_parameters(module), flat_parameters(alone)) <
          kDeviceTolerance);
    CHECK(largest_difference(flat_gradients(module), flat_gradients(alone)) <
          kDeviceTolerance);

    const NoGradGuard no_grad;
    const Tensor images = digits(batch, 9).images;
    const Tensor y = net(images);  // scatter copies the images from the CPU
    CHECK(y.device() == Device::cuda(0));
    CHECK(largest_difference(y.to_vector<float>(), alone(images).to_vector<float>()) <
          kDeviceTolerance);
}

TEST_CASE("the input's gradient is on the input's device") {
    const auto devices = distinct_devices(2);
    if (!devices) return;
    Toy module;
    Tensor on_cpu = draw({5, 3}, 1);
    on_cpu.set_requires_grad();
    sum(module(on_cpu)).backward();

    Toy moved;
    moved.load_state_dict(module.state_dict());
    moved.to(Device::cuda(0));
    DataParallel net(moved, [] { return std::make_unique<Toy>(); },
                     {.device_ids = *devices, .output_device = Device::cuda(1)});
    Tensor x = draw({5, 3}, 1).to(Device::cuda(1));
    x.set_requires_grad();
    const Tensor y = net(x);
    CHECK(y.device() == Device::cuda(1));
    sum(y).backward();
    CHECK(x.grad().device() == Device::cuda(1));
    CHECK(largest_difference(x.grad().to_vector<float>(),
                             on_cpu.grad().to_vector<float>()) < kDeviceTolerance);
    CHECK(largest_difference(flat_gradients(moved), flat_gradients(module)) <
          kDeviceTolerance);
}

TEST_CASE("a step on CUDA devices moves as many bytes as on CPU devices") {
    const auto devices = distinct_devices(3);
    if (!devices) return;
    const auto total = [](const std::vector<Device>& places) {
        Toy module;
        module.to(places[0]);
        DataParallel net(module, [] { return std::make_unique<Toy>(); },
                         {.device_ids = places});
        sum(net(draw({7, 3}, 1).to(places[0]))).backward();
        const auto& stats = net.stats();
        return std::vector<int64_t>{stats.bytes_scattered, stats.bytes_replicated,
                                    stats.bytes_gathered, stats.bytes_reduced};
    };
    CHECK(total(*devices) == total({Device::cpu(0), Device::cpu(1), Device::cpu(2)}));
}

TEST_CASE("without device_ids a module on a CUDA device uses all CUDA devices") {
    Toy module;
    module.to(Device::cuda(0));
    const DataParallel net(module, [] { return std::make_unique<Toy>(); });
    CHECK(net.device_ids().size() == static_cast<size_t>(cuda_device_count()));
    CHECK(net.device_ids()[0] == Device::cuda(0));
}

TEST_CASE("a module that is not on the first CUDA device is rejected") {
    const auto devices = distinct_devices(2);
    if (!devices) return;
    Toy module;
    DataParallel net(module, [] { return std::make_unique<Toy>(); },
                     {.device_ids = *devices});
    CHECK(contains(message_of([&] {
                       net(draw({4, 3}, 1));
                   }),
                   "on device cuda:0 (device_ids[0]) but found one of them, fc1.weight, "
                   "on device: cpu"));
}

TEST_CASE("dropout masks differ between CUDA devices and depend on the seed") {
    const auto devices = distinct_devices(2);
    if (!devices) return;
    Dropped module;
    DataParallel net(module, [] { return std::make_unique<Dropped>(); },
                     {.device_ids = *devices});
    const auto halves = [&](uint64_t seed) {
        manual_seed(seed);
        return net(Tensor::ones({2, 200})).to_vector<float>();
    };
    const auto y = halves(1);
    CHECK(std::vector(y.begin(), y.begin() + 200) !=
          std::vector(y.begin() + 200, y.end()));
    CHECK(halves(1) == y);
    CHECK(halves(2) != y);
}

TEST_CASE("a tensor that a replica creates without a device is on the replica's device") {
    const auto devices = distinct_devices(3);
    if (!devices) return;
    const DefaultDevice home(Device::cuda(0));
    AddsOne module;
    DataParallel net(module, [] { return std::make_unique<AddsOne>(); },
                     {.device_ids = *devices});
    CHECK(net(Tensor::from(std::vector<float>{1, 2, 3})).to_vector<float>() ==
          std::vector<float>{2, 3, 4});
}
