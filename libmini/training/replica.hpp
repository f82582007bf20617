// The model of a training job wrapped for data-parallel training, as --sync chooses.

#pragma once

#include <memory>

#include "libmini/distributed/group/process_group.hpp"
#include "libmini/nn/module.hpp"
#include "libmini/parallel/ddp.hpp"
#include "libmini/parallel/replicated_module.hpp"
#include "libmini/training/options.hpp"

namespace mini::training {

/// The model wrapped for data-parallel training; null if each rank trains separately.
struct Replica {
    std::unique_ptr<parallel::ReplicatedModule> module;
    parallel::DistributedDataParallel* ddp = nullptr;  // `module`, if it is DDP
};

/// Wraps `model` as --sync, the bucket options and --compress say; with --graph it stays
/// unwrapped. Blocks until all ranks have called it. REQUIRES: `model` outlives the
/// result.
Replica replicate(nn::Module& model, const Options& options,
                  const std::shared_ptr<dist::ProcessGroup>& group);

}  // namespace mini::training
