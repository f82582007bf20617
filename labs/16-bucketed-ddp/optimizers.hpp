// The optimizer and the scheduler that the options name.

#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "libmini/distributed/group/process_group.hpp"
#include "libmini/optim/lr_scheduler.hpp"
#include "libmini/optim/optimizer.hpp"
#include "options.hpp"

namespace train_mnist {

/// The optimizer of all these parameters, --zero aside.
std::unique_ptr<mini::optim::Optimizer> make_plain_optimizer(
    const Options& options, std::vector<mini::Tensor> parameters);

/// The same, or with --zero this rank's part of it; then blocks until all ranks have come
/// here.
std::unique_ptr<mini::optim::Optimizer> make_optimizer(
    const Options& options, std::vector<mini::Tensor> parameters,
    const std::shared_ptr<mini::dist::ProcessGroup>& group);

/// Null for --scheduler none. `epochs` is how long a cosine falls. REQUIRES: `optimizer`
/// outlives it.
std::unique_ptr<mini::optim::LRScheduler> make_scheduler(
    const Options& options, mini::optim::Optimizer& optimizer, int64_t epochs);

}  // namespace train_mnist
