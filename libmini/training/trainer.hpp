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

/// The model as the ranks train it together; nothing where each trains for itself.
struct Replica {
    std::unique_ptr<parallel::ReplicatedModule> module;
    parallel::DistributedDataParallel* ddp = nullptr;  // the same, where it is DDP
};

/// One rank of a training job: model, optimizer, data, and how far it has come.
class Trainer {
  public:
    /// Builds the model on `device`, alike on all ranks; blocks until they agree on it.
    Trainer(const Options& options, JobData data,
            std::shared_ptr<dist::ProcessGroup> group, Device device);

    /// With --checkpoint, goes on from the newest checkpoint and returns its path; nothing
    /// where there is none. To be called before run, on all ranks; blocks until all have
    /// read it. Throws UsageError when it is of a run with other options, or beyond this
    /// one's end; SharedError when it cannot be read, or is not of this model and
    /// optimizer, with the list of differences.
    std::optional<std::string> resume();

    /// Trains as long as the options say and returns what came of it, on every rank the
    /// same. After each epoch calls `report` with the results so far. With --checkpoint
    /// saves as it goes; throws SharedError when that fails.
    Results run(const std::function<void(const Results&)>& report);

    const nn::Module& model() const { return model_; }

    /// How far the run has come, what was before a resume included.
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
    void go_on_from(const RunState& state);
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
    std::vector<float> epoch_losses_;          // of this rank, of the epoch under way
    std::vector<uint8_t> epoch_generators_;    // as they were when it began
    std::vector<uint8_t> resumed_generators_;  // what it goes on with, in its middle
    int64_t samples_trained_ = 0;              // by all ranks, in this process
    Results results_;
};

}  // namespace mini::training
