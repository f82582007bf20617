// Gradient averaging: the simplest data-parallel training there is.
//
// Every rank computes gradients on its own part of the batch; the average of the ranks'
// mean gradients is the mean gradient of the whole batch (for parts of equal size). Both
// functions communicate after the backward pass, so nothing overlaps.

#pragma once

#include <vector>

#include "libmini/distributed/group/process_group.hpp"
#include "libmini/tensor/tensor.hpp"

namespace mini::parallel {

/// Replaces each parameter's gradient by its average over all ranks, one all-reduce a
/// parameter: small parameters cost a round of messages each (the tutorial's
/// `average_gradients`). Blocks until done. Every rank must pass the same parameters in
/// the same order. Throws Error naming the first parameter without a gradient, and what
/// ProcessGroup::all_reduce throws.
void average_gradients(const std::vector<Tensor>& parameters, dist::ProcessGroup& group);

/// The same with one all-reduce for all, of a flat copy of the gradients. REQUIRES: they
/// are float32.
void average_flat_gradients(const std::vector<Tensor>& parameters,
                            dist::ProcessGroup& group);

}  // namespace mini::parallel
