// A DataParallel that does one thing after another, where libmini's own overlaps them.
//
//     copy of module      module.parameters() ─[replicate]─► copy.parameters()
//     forward             scatter, replicate, parallel_apply, gather
//     backward            the same graph, from gather back to scatter and replicate
//
// All four are recorded in one autograd graph, as in PyTorch. The backward of replicate
// sends a gradient from the copy to the module; the engine adds up what arrives there.
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

/// Returns modules[i](chunks[i]) for every chunk i; blocks until all are done. All modules
/// run at the same time, module i on lanes[i], with the grad mode of the calling thread
/// (mini::is_grad_enabled), which is another setting on each thread. If several modules
/// fail, throws the error of the first one by mini::parallel::finish, after all modules
/// have ended. REQUIRES: at least as many lanes and modules as chunks
/// (`torch.nn.parallel.parallel_apply`).
std::vector<mini::Tensor> parallel_apply(const Lanes& lanes,
                                         const std::vector<mini::nn::Module*>& modules,
                                         const std::vector<mini::Tensor>& chunks);

/// Makes the parameters and buffers of `copy`, a module of the same kind on `device`,
/// equal to those of `original`, on `home`, and copies the training mode. Each parameter
/// of the copy is recorded as computed from the original's parameter: backward copies its
/// gradient from `device` to `home`, and frozen parameters receive none. Counts the bytes
/// copied as replicated, and those of gradients as reduced. REQUIRES: backward passes
/// through the earlier values of `copy` are done (`torch.nn.parallel.replicate`).
void replicate(mini::nn::Module& original, mini::nn::Module& copy, mini::Device home,
               mini::Device device, const mini::parallel::SharedStats& stats);

/// `torch.nn.DataParallel` for one forward pass at a time.
class DataParallel : public mini::nn::Module {
  public:
    /// Starts a lane for each device, and builds the copies of `module` for all devices
    /// but devices[0], where the module itself is. REQUIRES: `module` outlives this
    /// object; the devices are different.
    DataParallel(mini::nn::Module& module, const mini::parallel::ModuleFactory& make_copy,
                 std::vector<mini::Device> devices);

    /// Returns the module's result for x, on devices[0]; blocks until it is computed.
    /// Splits x along dimension 0. The module itself computes chunk 0, and copy i, with
    /// the module's present values, chunk i. A device without a chunk receives nothing.
    /// Throws the error of the first module that failed. REQUIRES: the backward pass of
    /// the last result is done, or not needed.
    mini::Tensor forward(const mini::Tensor& x) override;

    /// The bytes moved since construction, forward and backward.
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
