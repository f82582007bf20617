// Gradient averaging: the simplest form of data-parallel training.
//
// Every rank computes gradients on its own part of the batch; the average of the ranks'
// mean gradients is the mean gradient of the whole batch (for parts of equal size). Both
// functions of this file communicate after the backward pass, so communication and
// computation do not overlap.

#pragma once

#include <vector>

#include "libmini/distributed/group/process_group.hpp"
#include "libmini/tensor/tensor.hpp"

namespace mini::parallel {

/// Replaces each parameter's gradient by its average over all ranks, with one all-reduce
/// per parameter (the tutorial's `average_gradients`); so even a small parameter costs a
/// round of messages. Blocks until done. Every rank must pass the same parameters in the
/// same order. Throws Error with the index of the first parameter without a gradient and
/// the rank, and the errors of ProcessGroup::all_reduce.
void average_gradients(const std::vector<Tensor>& parameters, dist::ProcessGroup& group);

/// Like average_gradients, but with a single all-reduce of a flat copy of all gradients.
/// REQUIRES: the gradients are float32.
void average_flat_gradients(const std::vector<Tensor>& parameters,
                            dist::ProcessGroup& group);

}  // namespace mini::parallel
