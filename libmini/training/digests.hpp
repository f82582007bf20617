// Checks that replicas are bitwise identical: compares the SHA-256 of the ranks' tensors.

#pragma once

#include <string>
#include <vector>

#include "libmini/distributed/group/process_group.hpp"
#include "libmini/nn/module.hpp"
#include "libmini/tensor/tensor.hpp"

namespace mini::training {

/// Returns the SHA-256 of each rank's tensors. If the digests are not all equal, the
/// replicas differ. Blocks until all ranks have called it.
std::vector<std::string> digests(dist::ProcessGroup& group,
                                 const std::vector<Tensor>& tensors);

/// Returns digests() of a model's parameters.
std::vector<std::string> parameter_digests(dist::ProcessGroup& group,
                                           const nn::Module& model);

/// Returns whether all digests are equal.
bool all_equal(const std::vector<std::string>& digests);

/// Returns "bitwise identical on all ranks", or "differ between ranks".
std::string compare(const std::vector<std::string>& digests);

}  // namespace mini::training
