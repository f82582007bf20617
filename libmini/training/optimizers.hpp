// Makes the optimizer and the learning rate scheduler that the options describe.

#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "libmini/distributed/group/process_group.hpp"
#include "libmini/optim/lr_scheduler.hpp"
#include "libmini/optim/optimizer.hpp"
#include "libmini/parallel/zero.hpp"
#include "libmini/training/options.hpp"

namespace mini::training {

/// Returns an unsharded optimizer of `parameters`, regardless of --zero.
std::unique_ptr<optim::Optimizer> make_plain_optimizer(const Options& options,
                                                       std::vector<Tensor> parameters);

/// The optimizer of a job.
struct JobOptimizer {
    std::unique_ptr<optim::Optimizer> optimizer;
    parallel::ZeroRedundancyOptimizer* zero = nullptr;  // = optimizer.get() with --zero
};

/// Returns the optimizer of all parameters. With --zero it is a ZeroRedundancyOptimizer,
/// and the call blocks until all ranks have called make_optimizer().
JobOptimizer make_optimizer(const Options& options, const nn::Module& model,
                            const std::shared_ptr<dist::ProcessGroup>& group);

/// Returns the scheduler of `optimizer`; null for --scheduler none. `epochs` is the
/// length of the cosine schedule. REQUIRES: `optimizer` outlives the result.
std::unique_ptr<optim::LRScheduler> make_scheduler(const Options& options,
                                                   optim::Optimizer& optimizer,
                                                   int64_t epochs);

}  // namespace mini::training
