// Averaging parameters: what one does with replicas that were trained apart.
//
//     each step     g0 \  average_gradients            one model, trained on every batch
//                   g1 /
//     at the end    p0 ---- trained alone ---- p0 \    the mean of two models, neither of
//                   p1 ---- trained alone ---- p1 /    which has seen the other's data
//
// The two are not the same. Averaging gradients in each step is exactly training on the
// whole batch. Replicas that train apart drift apart, each towards a minimum of its own,
// and the loss of their mean may be far above that of each: averaging works only for
// models that are still close, as when one averages every few steps (local SGD; Stich 2019).

#pragma once

#include "libmini/distributed/group/process_group.hpp"
#include "libmini/nn/module.hpp"

namespace mini::parallel {

/// Replaces each parameter, and each buffer of floating-point numbers, by its average
/// over all ranks; buffers of integers, which count batches, become rank 0's. Afterwards
/// the state is the same on all ranks, to the bit. One all-reduce, or broadcast, for each
/// tensor, all under way at once; blocks until all are done. PyTorch's
/// `torch.distributed.algorithms.model_averaging.utils.average_parameters` leaves buffers
/// alone. REQUIRES: the same module on all ranks. Throws what
/// ProcessGroup::all_reduce throws.
void average_parameters(const nn::Module& module, dist::ProcessGroup& group);

}  // namespace mini::parallel
