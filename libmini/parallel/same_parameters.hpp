// Checks that all ranks have the same parameters, before the first parameter is sent.

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

/// Throws Error on all ranks unless every rank passes the same number of parameters, with
/// the same names and shapes, in the same order (`_verify_param_shape_across_processes`,
/// which does not compare names: there two layers of one shape that a rank registers in
/// another order are averaged with each other). The message names the first rank that
/// differs from rank 0, and both numbers of parameters, or the first parameter that
/// differs and both names or shapes. A parameter's name may be empty on all ranks. Blocks
/// until every rank has called this function.
void check_same_parameters(dist::ProcessGroup& group, const SameParameters& texts,
                           const nn::NamedTensors& parameters);

}  // namespace mini::parallel
