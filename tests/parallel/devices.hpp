// Data and training steps for tests that compare GPU training with CPU training.

#pragma once

#include <cstdint>
#include <vector>

#include "libmini/nn/container.hpp"
#include "libmini/nn/models.hpp"
#include "libmini/optim/sgd.hpp"
#include "tests/parallel/toy.hpp"

namespace mini::test {

// Devices sum in different orders, so that numbers near 0.1 differ by a few units in the
// last place; after five steps with a learning rate of 0.01, the difference is far below
// this tolerance.
constexpr double kDeviceTolerance = 1e-5;

/// Batch number `step` of random images (n, 1, 28, 28) and labels (n), on the CPU.
struct Digits {
    Tensor images;
    Tensor labels;
};
inline Digits digits(int64_t n, int64_t step) {
    std::vector<int64_t> labels;
    for (int64_t i = 0; i < n; ++i) labels.push_back((3 * i + step) % 10);
    return {draw({n, 1, 28, 28}, static_cast<uint64_t>(step)), Tensor::from(labels)};
}

/// Returns `count` CUDA devices: 0, 1, ..., and again from 0 if the machine has fewer.
inline std::vector<Device> cuda_devices(int count) {
    std::vector<Device> devices;
    for (int i = 0; i < count; ++i)
        devices.push_back(Device::cuda(i % cuda_device_count()));
    return devices;
}

/// Copies `batch` to `device` and trains `network` on it for one step.
inline void train_step(nn::Module& network, optim::Optimizer& optimizer,
                       const Digits& batch, Device device) {
    optimizer.zero_grad();
    cross_entropy(network(batch.images.to(device)), batch.labels.to(device)).backward();
    optimizer.step();
}

}  // namespace mini::test
