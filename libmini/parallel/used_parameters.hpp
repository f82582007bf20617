// Finds the parameters on which a result depends: walks over the graph, from the result
// to the leaves, without computing anything. A parameter that the walk does not reach
// will get no gradient.

#pragma once

#include <vector>

#include "libmini/nn/module.hpp"

namespace mini::parallel {

/// Returns a vector whose element i is true if `output` depends on parameters[i], and
/// parameters[i] requires grad. The time is proportional to the size of the graph.
/// REQUIRES: all parameters are leaves.
std::vector<bool> used_parameters(const Tensor& output,
                                  const nn::NamedTensors& parameters);

}  // namespace mini::parallel
