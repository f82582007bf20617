// Wraps the model of a training job for data-parallel training, as --sync selects.

#pragma once

#include <memory>

#include "libmini/distributed/group/process_group.hpp"
#include "libmini/nn/module.hpp"
#include "libmini/parallel/ddp.hpp"
#include "libmini/parallel/replicated_module.hpp"
#include "libmini/training/options.hpp"

namespace mini::training {

/// The model wrapped for data-parallel training. `module` is null if the model is not
/// wrapped.
struct Replica {
    std::unique_ptr<parallel::ReplicatedModule> module;
    parallel::DistributedDataParallel* ddp = nullptr;  // = module.get() with --sync ddp
};

/// Returns `model` wrapped according to --sync, the bucket options and --compress. With
/// --sync none, returns an empty Replica. Blocks until all ranks have called
/// it. REQUIRES: `model` outlives the result.
Replica replicate(nn::Module& model, const Options& options,
                  const std::shared_ptr<dist::ProcessGroup>& group);

}  // namespace mini::training
