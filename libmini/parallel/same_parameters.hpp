// Whether all ranks have come with the same parameters, before one of them is sent.

#pragma once

#include <string>

#include "libmini/distributed/group/process_group.hpp"
#include "libmini/nn/module.hpp"

namespace mini::parallel {

/// What check_same_parameters says of itself and of the remedy.
struct SameParameters {
    std::string who;     // "DistributedDataParallel"
    std::string what;    // "parameters that require grad"
    std::string remedy;  // "every rank must build the same module"
};

/// Throws, on all ranks alike, unless each of them passes as many parameters, of the same shapes
/// in the same order: the message names the first parameter and rank that differ from rank 0, and
/// both shapes. A parameter's name may be empty. Every rank must call it; blocks until all have.
/// PyTorch's _verify_param_shape_across_processes.
void check_same_parameters(dist::ProcessGroup& group, const SameParameters& texts,
                           const nn::NamedTensors& parameters);

}  // namespace mini::parallel
