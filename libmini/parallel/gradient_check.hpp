// GradientCheck: a NaN on one rank is known to all, in the step in which it happens.
//
// Averaging spreads a NaN to every rank, and a step later it is in every parameter;
// nothing then tells where it came from. So each rank looks at its own gradients before
// they are averaged, and all ranks are told what each has found.

#pragma once

#include <cstddef>
#include <cstdint>

#include "libmini/distributed/group/process_group.hpp"
#include "libmini/nn/module.hpp"

namespace mini::parallel {

class GradientCheck {
  public:
    /// Looks for NaN and infinity in the gradient of parameter `place`; remembers the
    /// first index that has one.
    void look_at(size_t index, const Tensor& gradient);

    /// Throws Error, the same on all ranks, naming each rank that found one and the
    /// parameter, when any did; forgets it. Blocks until all ranks have come here.
    void agree(dist::ProcessGroup& group, const nn::NamedTensors& parameters,
               int64_t iteration);

  private:
    int64_t first_bad_ = -1;
};

}  // namespace mini::parallel
