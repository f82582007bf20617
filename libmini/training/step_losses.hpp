// The losses of the steps of an epoch.
//
// loss.item() after each step would make the host wait until the GPU has finished the
// step, and the GPU then wait until the host has launched the next step. So the losses
// stay on the GPU, and the host reads several at once:
//
//     step         0   1   2  ..   9  | 10 ...
//     GPU          each loss is copied to its element of one tensor
//     host                     reads ten |

#pragma once

#include <cstdint>
#include <vector>

#include "libmini/tensor/tensor.hpp"

namespace mini::training {

/// Appends the losses of the steps to a list.
class StepLosses {
  public:
    /// The values of losses on a GPU are read after every `steps_per_read` steps, and are
    /// then appended to `losses`. REQUIRES: `losses` outlives this object.
    StepLosses(std::vector<float>& losses, int64_t steps_per_read)
        : losses_(losses), steps_per_read_(steps_per_read) {}

    /// Adds a step's loss, a scalar; each call has a loss on the same device. Appends a
    /// loss on the CPU to `losses` at once. If the loss is on a GPU, later work in the
    /// current stream may overwrite it; blocks only if the losses are read.
    void add(const Tensor& loss);

    /// Reads the losses that are still on the GPU; blocks until the current stream has
    /// completed.
    void read();

  private:
    std::vector<float>& losses_;
    int64_t steps_per_read_;
    Tensor unread_;  // (steps_per_read_) on the GPU; the first count_ elements are losses
    int64_t count_ = 0;
};

}  // namespace mini::training
