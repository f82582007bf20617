// The parts of a training job that the options choose: the module that averages gradients,
// the optimizer, and the learning rate scheduler. job.hpp has the data.

#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "libmini/distributed/group/process_group.hpp"
#include "libmini/nn/module.hpp"
#include "libmini/optim/lr_scheduler.hpp"
#include "libmini/optim/optimizer.hpp"
#include "libmini/parallel/replicated_module.hpp"
#include "libmini/training/options.hpp"

namespace mini::training {

/// Returns `model` wrapped according to --sync, the bucket options and --compress: with
/// --sync ddp a DistributedDataParallel, with --sync none null. Blocks until all ranks have
/// called it. REQUIRES: `model` outlives the result.
std::unique_ptr<parallel::ReplicatedModule> replicate(
    nn::Module& model, const Options& options,
    const std::shared_ptr<dist::ProcessGroup>& group);

/// Returns an unsharded optimizer of `parameters`, regardless of --zero.
std::unique_ptr<optim::Optimizer> make_plain_optimizer(const Options& options,
                                                       std::vector<Tensor> parameters);

/// Returns the optimizer of all parameters. With --zero it is a ZeroRedundancyOptimizer,
/// and the call blocks until all ranks have called make_optimizer().
std::unique_ptr<optim::Optimizer> make_optimizer(
    const Options& options, const nn::Module& model,
    const std::shared_ptr<dist::ProcessGroup>& group);

/// Returns the scheduler of `optimizer`; null for --scheduler none. `epochs` is the
/// length of the cosine schedule. REQUIRES: `optimizer` outlives the result.
std::unique_ptr<optim::LRScheduler> make_scheduler(const Options& options,
                                                   optim::Optimizer& optimizer,
                                                   int64_t epochs);

}  // namespace mini::training
