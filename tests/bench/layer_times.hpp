// The profile of a training step: where its time goes, layer by layer.
//
//     data | zero_grad | conv1 .. fc2 | loss | loss .. conv1 | optimizer | rest
//                        forward               backward
//
// Each layer's output passes through a mark: a function that returns its input, and that
// reads the clock when the gradient passes back through it. Between two readings of the
// clock one layer ran, so the parts add up to the whole step.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace bench {

/// One part of a step.
struct StepPart {
    std::string name;       // "conv1", "loss", "optimizer", ...
    std::string direction;  // "forward", "backward" or ""
    double seconds = 0;     // mean over the steps, without the slowest quarter of them
    double flops = 0;       // floating-point operations that the part needs
    double bytes = 0;       // bytes that the part must read or write at least once
};

struct StepProfile {
    std::vector<StepPart> parts;  // in the order of the step; the last is "rest"
    double step_seconds = 0;      // of the same step of nn::ConvNet without marks
    double first_loss = 0;        // of the profiled network, before the first step
    double model_loss = 0;        // of nn::ConvNet with the same weights and data
};

/// Returns the profile of a training step of the ConvNet on batches of `data`, a value of
/// train_mnist's option --data. Alternates between series of steps with marks and without
/// marks for about `seconds`. Throws BadFile if MNIST's files are damaged.
StepProfile profile_step(const std::string& data, int64_t batch_size, double seconds);

}  // namespace bench
