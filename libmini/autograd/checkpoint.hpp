// Activation checkpointing: a part of a network is computed twice, so that what it saves
// for the backward pass need not stay in memory until then.
//
//     forward               x -> [ a  b  c ] -> y       saves a, b and c
//     with a checkpoint     x -> [         ] -> y       saves only x
//     backward              x -> [ a  b  c ] -> y       again; then from y back to x
//
// Chen et al. 2016, Training Deep Nets with Sublinear Memory Cost.

#pragma once

#include <functional>

#include "libmini/tensor/tensor.hpp"

namespace mini {

/// Returns function(input), and saves only `input` for the backward pass, which calls
/// `function` again when it needs what was not saved
/// (`torch.utils.checkpoint.checkpoint` with use_reentrant=False). The gradients, their
/// order and the calls of hooks are those of function(input), also for parameters and other
/// tensors that `function` uses, and if `input` requires no gradient. Calls may be nested.
/// If this thread does not record, only calls `function`.
///
/// - What the second call has saved is freed operation by operation, with each gradient.
///   A second backward pass (retain_graph) calls `function` again.
/// - The second call draws the same numbers from default_generator() as the first one, and
///   leaves the generator as it was (preserve_rng_state=True), even if it throws. It has
///   the first one's AutocastGuard::dtype().
/// - The backward pass throws Error if the second call records another number of operations
///   or returns another shape, or if `input` was changed in place in between.
///
/// REQUIRES: `function` computes the same both times, and what it refers to exists, and is
/// unchanged, until then. It calls no wrapper of libmini/parallel; a wrapped module may
/// call checkpoint().
Tensor checkpoint(std::function<Tensor(const Tensor&)> function, const Tensor& input);

}  // namespace mini
