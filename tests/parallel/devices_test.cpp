// Training on one CUDA device, or on several ranks with CUDA devices, gives the same
// parameters as training on the CPU.

#include "tests/parallel/devices.hpp"

#include <cstdint>

#include "libmini/distributed/group/process_group.hpp"
#include "libmini/nn/norm.hpp"
#include "libmini/parallel/averaging_modules.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/contains.hpp"

using namespace mini;
using namespace mini::test;

namespace {

constexpr int64_t kDevicesBatch = 12;  // samples per step, over all ranks
constexpr int64_t kSteps = 5;

// A network with batch normalisation.
class Normed : public nn::Module {
  public:
    Normed() {
        register_module("conv", conv_);
        register_module("norm", norm_);
        register_module("fc", fc_);
    }
    Tensor forward(const Tensor& x) override {
        const Tensor y = relu(norm_(conv_(x)));
        return fc_(view(max_pool2d(y, 4), {-1, 4 * 6 * 6}));
    }

  private:
    nn::Conv2d conv_{1, 4, 5};
    nn::BatchNorm2d norm_{4};
    nn::Linear fc_{4 * 6 * 6, 10};
};

// Parameters and buffers, as floats.
std::vector<float> flat_state(const nn::Module& module) {
    std::vector<float> all = flat_parameters(module);
    for (const Tensor& buffer : module.buffers()) {
        const auto values = ops::to(buffer, DType::kFloat32).to_vector<float>();
        all.insert(all.end(), values.begin(), values.end());
    }
    return all;
}

template <typename M, typename... Options>
std::vector<float> train_alone(Device device, bool evaluating, Options... options) {
    manual_seed(1234);
    M model(options...);
    model.to(device);
    if (evaluating) model.eval();
    optim::SGD optimizer(model.parameters(), {.lr = 0.01, .momentum = 0.5});
    for (int64_t step = 0; step < kSteps; ++step)
        train_step(model, optimizer, digits(kDevicesBatch, step), device);
    return flat_state(model);
}

const nn::ConvNetOptions kNoDropout = {.dropout = false};

// Trains with rank r on devices[r], requires equal states on all ranks, and returns the
// state.
template <typename Replicated>
std::vector<float> train_ranks(const std::vector<Device>& devices) {
    const auto states =
        on_ranks(static_cast<int>(devices.size()), [&](dist::ProcessGroup& group) {
            const Device device = devices[static_cast<size_t>(group.rank())];
            manual_seed(static_cast<uint64_t>(1234 + group.rank()));
            nn::ConvNet model(kNoDropout);
            model.to(device);
            Replicated network(model);
            optim::SGD optimizer(model.parameters(), {.lr = 0.01, .momentum = 0.5});
            const int64_t share = kDevicesBatch / group.world_size();
            for (int64_t step = 0; step < kSteps; ++step) {
                const Digits all = digits(kDevicesBatch, step);
                const int64_t first = group.rank() * share;
                train_step(network, optimizer,
                           {ops::narrow(all.images, 0, first, share),
                            ops::narrow(all.labels, 0, first, share)},
                           device);
            }
            return flat_state(model);
        });
    for (const auto& state : states) REQUIRE(state == states[0]);
    return states[0];
}

}  // namespace

TEST_CASE(
    "five steps of the ConvNet on a CUDA device give the same parameters as on the CPU") {
    const auto cpu = train_alone<nn::ConvNet>(Device::cpu(), false, kNoDropout);
    const auto cuda = train_alone<nn::ConvNet>(Device::cuda(), false, kNoDropout);
    CHECK(largest_difference(cuda, cpu) < kDeviceTolerance);

    // The comparison must detect a training with the data of other steps.
    manual_seed(1234);
    nn::ConvNet model(kNoDropout);
    optim::SGD optimizer(model.parameters(), {.lr = 0.01, .momentum = 0.5});
    for (int64_t step = 0; step < kSteps; ++step)
        train_step(model, optimizer, digits(kDevicesBatch, step + 1), Device::cpu());
    CHECK(largest_difference(flat_state(model), cpu) > 100 * kDeviceTolerance);
}

TEST_CASE("in evaluation mode dropout does nothing on a CUDA device and on the CPU") {
    const auto cpu = train_alone<nn::ConvNet>(Device::cpu(), true);
    const auto cuda = train_alone<nn::ConvNet>(Device::cuda(), true);
    CHECK(largest_difference(cuda, cpu) < kDeviceTolerance);
    CHECK(cpu == train_alone<nn::ConvNet>(Device::cpu(), false, kNoDropout));
}

TEST_CASE("training is bitwise identical on the last and on the first CUDA device") {
    const Device last = Device::cuda(cuda_device_count() - 1);
    CHECK(train_alone<nn::ConvNet>(last, false, kNoDropout) ==
          train_alone<nn::ConvNet>(Device::cuda(), false, kNoDropout));
}

TEST_CASE(
    "batch norm statistics on a CUDA device equal the CPU's in train and eval mode") {
    const bool evaluating = GENERATE(false, true);
    const auto cpu = train_alone<Normed>(Device::cpu(), evaluating);
    const auto cuda = train_alone<Normed>(Device::cuda(), evaluating);
    CHECK(largest_difference(cuda, cpu) < kDeviceTolerance);
}

TEST_CASE("DDP with one CUDA device per rank trains like one process on the CPU") {
    const int ranks = GENERATE(1, 2, 3, 4);
    CAPTURE(ranks);
    const auto cpu = train_alone<nn::ConvNet>(Device::cpu(), false, kNoDropout);
    const auto cuda = train_ranks<parallel::DistributedDataParallel>(cuda_devices(ranks));
    CHECK(largest_difference(cuda, cpu) < kDeviceTolerance);
}

TEST_CASE(
    "other averaging modules and ranks that share a device train like the CPU too") {
    const auto cpu = train_alone<nn::ConvNet>(Device::cpu(), false, kNoDropout);
    const std::vector<Device> two = cuda_devices(2), shared(2, Device::cuda(0));
    CHECK(largest_difference(train_ranks<parallel::AveragedModule>(two), cpu) <
          kDeviceTolerance);
    CHECK(largest_difference(train_ranks<parallel::FlatModule>(two), cpu) <
          kDeviceTolerance);
    CHECK(largest_difference(train_ranks<parallel::OverlappedModule>(two), cpu) <
          kDeviceTolerance);
    CHECK(largest_difference(train_ranks<parallel::DistributedDataParallel>(shared),
                             cpu) < kDeviceTolerance);
}
