// The checkpoints of one training run: rank 0 writes them, all ranks read them.
// checkpoint.hpp describes the contents.

#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "libmini/distributed/group/process_group.hpp"
#include "libmini/io/checkpoint.hpp"
#include "libmini/nn/module.hpp"
#include "libmini/optim/lr_scheduler.hpp"
#include "libmini/optim/optimizer.hpp"
#include "libmini/parallel/ddp.hpp"
#include "libmini/training/checkpoint.hpp"
#include "libmini/training/options.hpp"
#include "libmini/training/run_progress.hpp"

namespace mini::training {

/// The objects of one rank that a checkpoint saves and restores.
struct CheckpointedParts {
    nn::Module& model;
    optim::Optimizer& optimizer;
    optim::LRScheduler* scheduler;           // null for --scheduler none
    parallel::DistributedDataParallel* ddp;  // null without DDP
};

/// Saves and restores the state of a run in the folder of --checkpoint.
class RunCheckpoints {
  public:
    /// `recipe` is the result of recipe_of() for this run. REQUIRES: `options` and the
    /// objects of `parts` outlive this object.
    RunCheckpoints(const Options& options, std::map<std::string, std::string> recipe,
                   const RunLength& length, const CheckpointedParts& parts,
                   std::shared_ptr<dist::ProcessGroup> group);

    /// Restores the parts, the generators and `progress` from the newest checkpoint, and
    /// returns its path. Returns std::nullopt if no checkpoint exists, or without
    /// --checkpoint. Call resume() before save(), on all ranks. Blocks until all ranks
    /// have read the checkpoint. Throws the same errors as Trainer::resume(), and
    /// SharedError if rank 0 cannot save a checkpoint.
    std::optional<std::string> resume(RankProgress& progress);

    /// Returns whether to save after the step that ended at `position`; false before
    /// resume().
    bool is_due_after_step(const RunPosition& position) const;

    /// Returns whether to save after a whole epoch; `position` is the start of the next
    /// epoch. Returns false before resume().
    bool is_due_after_epoch(const RunPosition& position) const;

    /// Saves a checkpoint; blocks until the checkpoint is on disk. Call save() on all
    /// ranks. Throws SharedError if the checkpoint cannot be written. REQUIRES: resume()
    /// was called.
    void save(const RankProgress& progress);

  private:
    std::optional<io::Checkpoint> newest();
    RunState load(const std::string& path, const io::Safetensors& file);
    void load_optimizer(const io::Safetensors& file);
    void continue_from(const RunState& state, RankProgress& progress) const;
    RunState run_state(const RankProgress& progress) const;

    const Options& options_;
    std::map<std::string, std::string> recipe_;
    RunLength length_;
    CheckpointedParts parts_;
    std::shared_ptr<dist::ProcessGroup> group_;
    std::optional<io::CheckpointFolder> folder_;  // set by resume() with --checkpoint
};

}  // namespace mini::training
