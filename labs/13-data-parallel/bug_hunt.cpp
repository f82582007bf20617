// A bug hunt: a module that computes its own loss, wrapped in DataParallel. The gradient
// on four devices should equal the gradient on one device, for every batch.
//
//     lab13_bug_hunt
//
// Exit codes: 0 the gradients agree for all batches, 1 they differ.

#include <fmt/format.h>
#include <cmath>
#include <cstdint>
#include <iostream>
#include <memory>
#include <vector>

#include "libmini/autograd/functions.hpp"
#include "libmini/core/log.hpp"
#include "libmini/parallel/data_parallel.hpp"
#include "libmini/tensor/ops.hpp"

using namespace mini;

namespace {

// Computes y = w x, and returns the loss, the mean of (y - 3 x)^2: one number instead of
// all outputs is sent back.
class LineWithLoss : public nn::Module {
  public:
    LineWithLoss() { w = register_parameter("w", Tensor::zeros({1})); }

    Tensor forward(const Tensor& x) override {
        const Tensor error = x * w - x * 3.0f;
        return mean(error * error);
    }

    Tensor w;
};

// The points 1, 2, ..., n.
Tensor points(int64_t n) {
    std::vector<float> x;
    for (int64_t i = 1; i <= n; ++i) x.push_back(static_cast<float>(i));
    return Tensor::from(x, {n, 1});
}

// Returns dL/dw on `count` devices, where L is the mean loss of n points.
double gradient(int count, int64_t n) {
    LineWithLoss module;
    std::vector<Device> devices;
    for (int i = 0; i < count; ++i) devices.push_back(Device::cpu(i));
    parallel::DataParallel network(
        module, [] { return std::make_unique<LineWithLoss>(); }, {.device_ids = devices});
    const Tensor losses = network(points(n));
    mean(losses).backward();
    return module.w.grad().item();
}

}  // namespace

int main() {
    logging::set_level(logging::Level::kError);  // without warnings of uneven batches
    bool all_equal = true;
    for (const int64_t n : {4, 8, 10, 11, 12, 13}) {
        const double one = gradient(1, n), four = gradient(4, n);
        const bool equal = std::abs(one - four) <= 1e-4 * std::abs(one);
        all_equal = all_equal && equal;
        std::cout << fmt::format(
            "batch of {:2}: dL/dw is {:9.3f} on 1 device, {:9.3f} on 4{}\n", n, one, four,
            equal ? "" : "   wrong");
    }
    std::cout << (all_equal ? "the gradients agree\n" : "the gradients differ\n");
    return all_equal ? 0 : 1;
}
