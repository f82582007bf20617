// Replicas: copies of a module on other devices, for one forward and backward pass each.
//
//     module.parameters() ─[replicate]─► copy.parameters() ─[parallel_apply]─► output
//
// Backward sends each gradient from a copy to the module. The autograd engine adds up the
// gradients that arrive at a parameter, from the module itself and from all copies.

#pragma once

#include <functional>
#include <future>
#include <memory>
#include <vector>

#include "libmini/nn/module.hpp"
#include "libmini/parallel/device_worker.hpp"
#include "libmini/parallel/scatter_gather.hpp"

namespace mini::parallel {

/// Builds another module of the same kind. The values of its parameters do not matter,
/// since replicate() replaces these values.
using ModuleFactory = std::function<std::unique_ptr<nn::Module>()>;

/// Makes `copy`, on `device`, equal to `original`, on `home`: copies the values of all
/// parameters and buffers, and the training mode of each submodule
/// (`torch.nn.parallel.replicate`). The values get new storage in every call, since an
/// earlier graph may have saved the old one. Records each parameter of `copy` as computed
/// from the parameter of `original`, and forgets what an earlier call has recorded: so
/// the copy's parameter requires grad if the original's does and this thread records.
/// Backward copies the gradient from `device` to `home`. Adds the bytes of parameters and
/// buffers to bytes_replicated, and during backward the bytes of gradients to
/// bytes_reduced. REQUIRES: `copy` has the same submodules, parameters and buffers, in
/// the same order; `device` is not `home`.
void replicate(nn::Module& original, nn::Module& copy, Device home, Device device,
               const SharedStats& stats);

/// Returns modules[i](chunks[i]) for every chunk i (`torch.nn.parallel.parallel_apply`);
/// blocks until all are done. All modules run at the same time: module i by
/// start(workers[i]), thus module 0 usually on the calling thread. Each runs with the
/// grad mode of the calling thread (is_grad_enabled is thread-local). If modules fail,
/// throws by finish(), after all modules have ended, the error of the failed module with
/// the lowest index, with the device of its chunk. REQUIRES: at least as many workers and
/// modules as chunks.
std::vector<Tensor> parallel_apply(const Workers& workers,
                                   const std::vector<nn::Module*>& modules,
                                   const std::vector<Tensor>& chunks);

}  // namespace mini::parallel
