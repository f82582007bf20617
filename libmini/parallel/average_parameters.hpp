// Parameter averaging: combines replicas that were trained separately.
//
//     each step     g0 \  average_gradients            one model, trained on every batch
//                   g1 /
//     at the end    p0 ---- trained alone ---- p0 \    the mean of two models, neither of
//                   p1 ---- trained alone ---- p1 /    which has seen the other's data
//
// The two methods differ. Averaging gradients in each step is mathematically the same as
// training one model on the whole batch. Replicas that train separately drift apart, each
// towards its own minimum, and the loss of the averaged model may be far above the loss
// of each replica. So averaging parameters works only for replicas that are still close
// to each other, for example if they are averaged every few steps (local SGD; Stich
// 2019).

#pragma once

#include "libmini/distributed/group/process_group.hpp"
#include "libmini/nn/module.hpp"

namespace mini::parallel {

/// Replaces each parameter and each floating-point buffer by its average over all ranks;
/// integer buffers, which count batches, are set to rank 0's values. Afterwards the state
/// is bitwise identical on all ranks. Starts one all-reduce or broadcast per tensor,
/// without waiting in between; blocks until all are done. Unlike this function,
/// `torch.distributed.algorithms.model_averaging.utils.average_parameters` does not
/// change buffers. REQUIRES: the same module on all ranks. Throws the errors of
/// ProcessGroup::all_reduce.
void average_parameters(const nn::Module& module, dist::ProcessGroup& group);

}  // namespace mini::parallel
