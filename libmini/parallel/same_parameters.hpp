// Checks that all ranks have the same parameters, before the first one is sent.

#pragma once

#include <string>

#include "libmini/distributed/group/process_group.hpp"
#include "libmini/nn/module.hpp"

namespace mini::parallel {

/// Texts for the error message of check_same_parameters.
struct SameParameters {
    std::string who;     // "DistributedDataParallel"
    std::string what;    // "parameters that require grad"
    std::string remedy;  // "every rank must build the same module"
};

/// Throws Error, the same on all ranks, unless every rank passes the same number of
/// parameters with the same shapes in the same order. The message names the first rank
/// and parameter that differ from rank 0, and both shapes. A parameter's name may be
/// empty. Every rank must call it; blocks until all have. PyTorch's
/// _verify_param_shape_across_processes.
void check_same_parameters(dist::ProcessGroup& group, const SameParameters& texts,
                           const nn::NamedTensors& parameters);

}  // namespace mini::parallel
