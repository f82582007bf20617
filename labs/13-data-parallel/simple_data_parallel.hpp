// A simple DataParallel: its steps follow each other, while libmini's DataParallel
// overlaps its steps.
//
//     copy of module      module.parameters() ─[replicate]─► copy.parameters()
//     forward             scatter, replicate, parallel_apply, gather
//     backward            the same graph, from gather back to scatter and replicate
//
// The four steps of forward are recorded in one autograd graph, as in PyTorch. The
// backward of replicate sends a gradient from a copy to the module; the autograd engine
// adds up the gradients that arrive at a parameter.
//
// libmini/parallel/data_parallel.hpp differs in three points: each device also runs its
// own backward pass on its lane, several forward passes may precede a backward pass, and
// random numbers do not depend on the number of lanes.

#pragma once

#include <memory>
#include <vector>

#include "libmini/nn/module.hpp"
#include "libmini/parallel/data_parallel_lane.hpp"
#include "libmini/parallel/replicate.hpp"
#include "libmini/parallel/scatter_gather.hpp"

namespace simple {

using Lanes = std::vector<std::unique_ptr<mini::parallel::Lane>>;

/// Returns modules[i](chunks[i]) for every chunk i; blocks until all are done. All
/// modules run at the same time, module i on lanes[i], with the grad mode of the calling
/// thread (mini::is_grad_enabled is thread-local). If modules fail, throws the error of
/// the failed module with the lowest index by mini::parallel::finish, after all modules
/// have ended. REQUIRES: at least as many lanes and modules as chunks
/// (`torch.nn.parallel.parallel_apply`).
std::vector<mini::Tensor> parallel_apply(const Lanes& lanes,
                                         const std::vector<mini::nn::Module*>& modules,
                                         const std::vector<mini::Tensor>& chunks);

/// Copies the parameters and buffers of `original`, on device `home`, to `copy`, a module
/// of the same kind on `device`; also copies the training mode. Records each parameter of
/// `copy` as computed from the parameter of `original`: backward copies the gradient from
/// `device` to `home`; frozen parameters get no gradient. Adds the bytes of parameters
/// and buffers to bytes_replicated, and the bytes of gradients to bytes_reduced.
/// REQUIRES: backward passes through the earlier values of `copy` are done
/// (`torch.nn.parallel.replicate`).
void replicate(mini::nn::Module& original, mini::nn::Module& copy, mini::Device home,
               mini::Device device, const mini::parallel::SharedStats& stats);

/// `torch.nn.DataParallel` for one forward pass at a time.
class DataParallel : public mini::nn::Module {
  public:
    /// Starts a lane for each device, and builds a copy of `module` on each device except
    /// devices[0], the device of the module itself. REQUIRES: `module` outlives this
    /// object; the devices are different.
    DataParallel(mini::nn::Module& module, const mini::parallel::ModuleFactory& make_copy,
                 std::vector<mini::Device> devices);

    /// Returns the module's result for x, on devices[0]; blocks until it is computed.
    /// Splits x along dimension 0. The module itself computes chunk 0; copy i computes
    /// chunk i with the current parameters and buffers of the module. Sends nothing to a
    /// device without a chunk. Throws the error of the failed module with the lowest
    /// index. REQUIRES: the backward pass of the last result is done, or not needed.
    mini::Tensor forward(const mini::Tensor& x) override;

    /// Returns the bytes moved since construction, forward and backward.
    const mini::parallel::DataParallelStats& stats() const { return *stats_; }

  private:
    mini::nn::Module& module_;
    std::vector<mini::Device> devices_;
    std::vector<std::unique_ptr<mini::nn::Module>> copies_;  // by device; null for 0
    mini::parallel::SharedStats stats_ =
        std::make_shared<mini::parallel::DataParallelStats>();
    Lanes lanes_;  // by device
};

}  // namespace simple
