// The training loop of one rank.

#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "libmini/distributed/group/process_group.hpp"
#include "libmini/io/checkpoint.hpp"
#include "libmini/nn/models.hpp"
#include "libmini/optim/lr_scheduler.hpp"
#include "libmini/optim/optimizer.hpp"
#include "libmini/parallel/ddp.hpp"
#include "libmini/training/captured_step.hpp"
#include "libmini/training/checkpoint.hpp"
#include "libmini/training/job.hpp"
#include "libmini/training/optimizers.hpp"
#include "libmini/training/options.hpp"
#include "libmini/training/results.hpp"

namespace mini::training {

/// The model wrapped for data-parallel training; null if each rank trains separately.
struct Replica {
    std::unique_ptr<parallel::ReplicatedModule> module;
    parallel::DistributedDataParallel* ddp = nullptr;  // `module`, if it is DDP
};

/// One rank of a training job: model, optimizer, data and progress.
class Trainer {
  public:
    /// Builds the model on `device`, identical on all ranks; blocks until all ranks have
    /// called it.
    Trainer(const Options& options, JobData data,
            std::shared_ptr<dist::ProcessGroup> group, Device device);

    /// With --checkpoint, resumes from the newest checkpoint and returns its path;
    /// returns std::nullopt if no checkpoint exists. Call it before run(), on all ranks;
    /// blocks until all have read the checkpoint. Throws UsageError when the checkpoint
    /// is of a run with other options, or is beyond the end of this run; throws
    /// SharedError when it cannot be read, or does not fit this model and optimizer, with
    /// the list of differences.
    std::optional<std::string> resume();

    /// Trains until the end that the options define and returns the results, the same on
    /// every rank. After each epoch calls `report` with the results so far. With
    /// --checkpoint saves checkpoints; throws SharedError when saving fails.
    Results run(const std::function<void(const Results&)>& report);

    const nn::Module& model() const { return model_; }

    /// The progress of the run, including the steps before a resume.
    const Place& place() const { return place_; }

  private:
    bool is_done() const { return place_.epoch >= epochs_ || place_.step >= last_step_; }
    void train_epoch();
    double step(const data::Batch& batch);
    void close_epoch();
    double accuracy();
    optim::Optimizer& optimizer() { return *optimizer_.optimizer; }
    void gather_losses();

    // In trainer_checkpoint.cpp.
    std::optional<io::Checkpoint> newest_checkpoint();
    std::map<std::string, std::string> recipe() const;
    RunState load(const std::string& path, const io::Safetensors& file);
    void load_optimizer(const io::Safetensors& file);
    void check_place(const std::string& path, const Place& place) const;
    void continue_from(const RunState& state);
    bool is_save_due() const;
    void save();
    RunState run_state();

    Options options_;
    JobData data_;
    std::shared_ptr<dist::ProcessGroup> group_;
    Device device_;
    TrainingBatches batches_;
    nn::ConvNet model_;
    Replica replica_;
    JobOptimizer optimizer_;
    std::unique_ptr<CapturedStep> captured_;  // with --graph
    int64_t epochs_;
    int64_t last_step_;
    std::unique_ptr<optim::LRScheduler> scheduler_;  // unless --scheduler none
    std::optional<io::CheckpointFolder> checkpoints_;

    Place place_;
    std::vector<float> epoch_losses_;          // of this rank, in the current epoch
    std::vector<uint8_t> epoch_generators_;    // at the start of the current epoch
    std::vector<uint8_t> resumed_generators_;  // if resumed in the middle of an epoch
    int64_t samples_trained_ = 0;              // by all ranks, since this process started
    Results results_;
};

}  // namespace mini::training
