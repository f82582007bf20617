// A bug hunt: a layer is trained twice, in float32, and in float16 with a scaled loss. All
// numbers are exact in float16, and both trainings make the same number of steps. They do
// not end with the same weights.
//
//     lab22_bug_hunt
//
// Exit codes: 0 the weights are equal, 1 they are not.

#include <fmt/format.h>
#include <iostream>
#include <vector>

#include "labs/22-memory-and-precision/grad_scaler.hpp"
#include "libmini/autograd/functions.hpp"
#include "libmini/autograd/low_precision.hpp"
#include "libmini/nn/linear.hpp"
#include "libmini/optim/lr_scheduler.hpp"
#include "libmini/optim/sgd.hpp"
#include "libmini/tensor/ops.hpp"

using namespace mini;

namespace {

constexpr int kSteps = 6;

// Trains in `dtype` until kSteps steps have been made; returns the weights.
std::vector<float> train(DType dtype, const lab22::GradScalerOptions& options) {
    nn::Linear layer(2, 1, {.bias = false});
    Tensor weights = layer.weight.detach();
    ops::fill_(weights, 0.0f);
    optim::SGD optimizer(layer.parameters(), {.lr = 0.25});
    optim::StepLR schedule(optimizer, /*step_size=*/2, /*gamma=*/0.5);
    lab22::GradScaler scaler(options);
    const AutocastGuard guard(dtype);

    // The gradients are 4 and -2 in every step.
    const Tensor x = Tensor::from(std::vector<float>{4, -2}, {1, 2});
    for (int made = 0; made < kSteps;) {
        optimizer.zero_grad();
        scaler.scale(sum(layer(x))).backward();
        made += scaler.step(optimizer);
        scaler.update();
        schedule.step();
    }
    return layer.weight.to_vector<float>();
}

}  // namespace

int main() {
    const auto full = train(DType::kFloat32, {.init_scale = 1});
    const auto half = train(DType::kFloat16, {});
    std::cout << fmt::format("float32   {:.4f} {:.4f}\n", full[0], full[1]);
    std::cout << fmt::format("float16   {:.4f} {:.4f}\n", half[0], half[1]);
    const bool same = full == half;
    std::cout << (same ? "the weights are equal\n" : "the weights differ\n");
    return same ? 0 : 1;
}
