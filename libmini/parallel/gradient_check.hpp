// GradientCheck: reports a NaN on one rank to all ranks, in the step in which it occurs.
//
// Averaging spreads a NaN to every rank, and one step later all parameters are NaN; then
// the source of the NaN can no longer be found. So each rank checks its own gradients
// before they are averaged, and all ranks exchange their findings.

#pragma once

#include <cstddef>
#include <cstdint>

#include "libmini/distributed/group/process_group.hpp"
#include "libmini/nn/module.hpp"

namespace mini::parallel {

class GradientCheck {
  public:
    /// Searches the gradient of parameter `index` for NaN and infinity; remembers the
    /// index of the first parameter whose gradient is not finite.
    void look_at(size_t index, const Tensor& gradient);

    /// Throws Error on all ranks, with the same message, if any rank has found NaN or
    /// infinity: the message names these ranks and their parameters. Clears the
    /// remembered index. Blocks until all ranks have called agree().
    void agree(dist::ProcessGroup& group, const nn::NamedTensors& parameters,
               int64_t iteration);

  private:
    int64_t first_bad_ = -1;
};

}  // namespace mini::parallel
