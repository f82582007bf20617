// Whether replicas are equal to the bit: the SHA-256 of each rank's tensors, side by side.

#pragma once

#include <string>
#include <vector>

#include "libmini/distributed/group/process_group.hpp"
#include "libmini/nn/module.hpp"
#include "libmini/tensor/tensor.hpp"

namespace mini::training {

/// The SHA-256 of each rank's tensors: all the same, or the replicas have drifted apart. Blocks
/// until all ranks have come here.
std::vector<std::string> digests(dist::ProcessGroup& group,
                                 const std::vector<Tensor>& tensors);

/// The same of a model's parameters.
std::vector<std::string> parameter_digests(dist::ProcessGroup& group,
                                           const nn::Module& model);

/// Whether all of these are the same.
bool all_equal(const std::vector<std::string>& digests);

/// "equal to the bit on all ranks", or "differ between ranks".
std::string compare(const std::vector<std::string>& digests);

}  // namespace mini::training
