// Replicas: copies of a module on other devices, for one forward and backward pass each.
//
//     module.parameters() ─[replicate]─► copy.parameters() ─[parallel_apply]─► output
//
// A copy's parameters are results of the module's parameters. The backward of replicate
// sends a gradient from a copy to the module; the autograd engine adds up the gradients
// that arrive at a parameter, from the module itself and from all copies.

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

/// Copies the parameters and buffers of `original`, on device `home`, to new storage of
/// `copy`, a module of the same kind on `device`; also copies the training mode of each
/// submodule. Records each parameter of `copy` as computed from the parameter of
/// `original`: backward copies the gradient from `device` to `home`; frozen parameters
/// get no gradient. Adds the bytes of parameters and buffers to bytes_replicated, and the
/// bytes of gradients to bytes_reduced (`torch.nn.parallel.replicate`).
void replicate(nn::Module& original, nn::Module& copy, Device home, Device device,
               const SharedStats& stats);

/// Returns modules[i](chunks[i]) for every chunk i; blocks until all are done. All
/// modules run at the same time: module i by start(workers[i]), thus module 0 usually on
/// the calling thread. Each runs with the grad mode of the calling thread
/// (is_grad_enabled is thread-local). If modules fail, throws the error of the failed
/// module with the lowest index by finish(), after all modules have ended; the error
/// names the device of chunks[i]. REQUIRES: at least as many workers and modules as
/// chunks (`torch.nn.parallel.parallel_apply`).
std::vector<Tensor> parallel_apply(const Workers& workers,
                                   const std::vector<nn::Module*>& modules,
                                   const std::vector<Tensor>& chunks);

/// Waits for `job` and rethrows its exception, with the message prefixed by "Caught Error
/// in replica 1 on device cpu:1. ". ShapeError and UsageError keep their type; all other
/// exceptions become Error.
void finish(std::future<void>& job, size_t replica, Device device);

}  // namespace mini::parallel
