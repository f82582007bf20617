// Which parameters a result depends on: a walk over the graph, from the result to the
// leaves, without computing anything. What it does not reach will get no gradient.

#pragma once

#include <vector>

#include "libmini/nn/module.hpp"

namespace mini::parallel {

/// Whether parameters[i] has a part in `output`. Takes time in proportion to the graph.
/// REQUIRES: all parameters are leaves that require grad.
std::vector<bool> used_parameters(const Tensor& output,
                                  const nn::NamedTensors& parameters);

}  // namespace mini::parallel
