// The training loop of one rank.

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "libmini/data/loader.hpp"
#include "libmini/distributed/group/process_group.hpp"
#include "libmini/nn/models.hpp"
#include "libmini/optim/lr_scheduler.hpp"
#include "libmini/optim/optimizer.hpp"
#include "libmini/parallel/ddp.hpp"
#include "libmini/tensor/tensor.hpp"
#include "libmini/training/options.hpp"
#include "libmini/training/parts.hpp"
#include "libmini/training/run_checkpoints.hpp"
#include "libmini/training/run_observer.hpp"
#include "libmini/training/run_progress.hpp"

namespace mini::training {

/// One rank of a training job: model, optimizer, data and progress.
class Trainer {
  public:
    /// Builds the model on `device`, identical on all ranks; blocks until all ranks have
    /// called it.
    Trainer(const Options& options, JobData data,
            std::shared_ptr<dist::ProcessGroup> group, Device device);

    /// Resumes from the newest checkpoint and returns its path. Returns std::nullopt if
    /// no checkpoint exists, or without --checkpoint. Call resume() before run(), on all
    /// ranks. Blocks until all ranks have read the checkpoint. Throws UsageError if the
    /// checkpoint is of a run with other options, or is beyond the end of this run.
    /// Throws SharedError, with the first fault, if the checkpoint cannot be read, or does
    /// not fit this model and optimizer.
    std::optional<std::string> resume() { return checkpoints_.resume(progress_); }

    /// Trains until the end that the options define, and returns the results. After each
    /// epoch, calls `report` with the results so far. With --checkpoint, saves
    /// checkpoints; throws SharedError if saving fails. Throws it before the first step
    /// if the file of --save or the log of --logdir cannot be written. Losses and
    /// accuracies are equal on all ranks. Blocks until all ranks have finished.
    Results run(const std::function<void(const Results&)>& report);

    const nn::Module& model() const { return model_; }

    /// Returns the position of the run, including the steps before a resume.
    const RunPosition& position() const { return progress_.position; }

  private:
    void check_output();
    data::DataLoader::Epoch start_epoch();
    void train_epoch();
    void train_batch(data::DataLoader::Epoch& batches);
    std::optional<data::Batch> next_batch(data::DataLoader::Epoch& batches);
    Tensor step(const data::Batch& batch);
    void read_losses();
    void close_epoch();
    double accuracy();
    EventLog* spans() { return observer_ ? &group_->events() : nullptr; }
    void gather_losses();

    Options options_;
    JobData data_;
    std::shared_ptr<dist::ProcessGroup> group_;
    Device device_;
    data::DataLoader loader_;
    RunLength length_;
    nn::ConvNet model_;
    std::unique_ptr<parallel::ReplicatedModule> replica_;  // unless --sync none
    parallel::DistributedDataParallel* ddp_;               // replica_, with --sync ddp
    std::unique_ptr<optim::Optimizer> optimizer_;
    std::unique_ptr<optim::LRScheduler> scheduler_;  // unless --scheduler none
    RunCheckpoints checkpoints_;

    std::unique_ptr<RunObserver> observer_;  // with --logdir

    RankProgress progress_;
    std::vector<Tensor> unread_losses_;  // of the last steps, on the device
    int64_t samples_trained_ = 0;        // by all ranks, since this process started
};

}  // namespace mini::training
