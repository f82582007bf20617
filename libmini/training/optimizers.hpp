// The optimizer and the scheduler that the options name.

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

/// The optimizer of all these parameters, --zero aside.
std::unique_ptr<optim::Optimizer> make_plain_optimizer(const Options& options,
                                                       std::vector<Tensor> parameters);

/// The optimizer of a job.
struct JobOptimizer {
    std::unique_ptr<optim::Optimizer> optimizer;
    parallel::ZeroRedundancyOptimizer* zero = nullptr;  // the same, with --zero
};

/// The same, or with --zero this rank's part of it; then blocks until all ranks have come
/// here.
JobOptimizer make_optimizer(const Options& options, std::vector<Tensor> parameters,
                            const std::shared_ptr<dist::ProcessGroup>& group);

/// Null for --scheduler none. `epochs` is how long a cosine falls. REQUIRES: `optimizer`
/// outlives it.
std::unique_ptr<optim::LRScheduler> make_scheduler(const Options& options,
                                                   optim::Optimizer& optimizer,
                                                   int64_t epochs);

}  // namespace mini::training
