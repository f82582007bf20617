// Gradient averaging: the simplest data-parallel training there is.
//
// Every rank computes gradients on its own part of the batch; the average of the ranks'
// mean gradients is the mean gradient of the whole batch (for parts of equal size). One
// all-reduce for each parameter, after the backward pass: nothing overlaps, and small
// parameters cost a round of messages each. DistributedDataParallel does away with both.

#pragma once

#include <vector>

#include "libmini/dist/process_group.hpp"
#include "libmini/tensor/tensor.hpp"

namespace mini::parallel {

/// Replaces each parameter's gradient by its average over all ranks; blocks until done
/// (the tutorial's `average_gradients`). Every rank must pass the same parameters in the
/// same order. Throws Error naming the first parameter without a gradient, and what
/// ProcessGroup::all_reduce throws.
void average_gradients(const std::vector<Tensor>& parameters, dist::ProcessGroup& group);

}  // namespace mini::parallel
