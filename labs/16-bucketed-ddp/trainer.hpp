// The training loop of one rank.

#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "checkpoint.hpp"
#include "job.hpp"
#include "libmini/distributed/group/process_group.hpp"
#include "libmini/io/checkpoint.hpp"
#include "libmini/nn/models.hpp"
#include "libmini/optim/lr_scheduler.hpp"
#include "libmini/optim/optimizer.hpp"
#include "libmini/parallel/captured_step.hpp"
#include "libmini/parallel/replicated_module.hpp"
#include "options.hpp"
#include "results.hpp"

namespace train_mnist {

class Trainer {
  public:
    /// Builds the model on `device`, alike on all ranks; blocks until they agree on it.
    Trainer(const Options& options, JobData data,
            std::shared_ptr<mini::dist::ProcessGroup> group, mini::Device device);

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

    const mini::nn::Module& model() const { return model_; }

    /// How far the run has come, what was before a resume included.
    const Place& place() const { return place_; }

  private:
    bool is_done() const { return place_.epoch >= epochs_ || place_.step >= last_step_; }
    void train_epoch();
    double step(const mini::data::Batch& batch);
    void close_epoch();
    double evaluate();
    void gather_losses();

    // In trainer_checkpoint.cpp.
    std::optional<mini::io::Checkpoint> newest_checkpoint();
    std::map<std::string, std::string> recipe() const;
    RunState load(const std::string& path, const mini::io::Safetensors& file);
    void load_optimizer(const mini::io::Safetensors& file);
    void check_place(const std::string& path, const Place& place) const;
    void go_on_from(const RunState& state);
    bool is_save_due() const;
    void save();
    RunState run_state();

    Options options_;
    JobData data_;
    std::shared_ptr<mini::dist::ProcessGroup> group_;
    mini::Device device_;
    TrainingBatches batches_;
    mini::nn::ConvNet model_;
    std::unique_ptr<mini::parallel::ReplicatedModule> replicated_;  // if ranks average
    std::unique_ptr<mini::optim::Optimizer> optimizer_;
    std::unique_ptr<mini::parallel::CapturedStep> captured_;  // with --graph
    int64_t epochs_;
    int64_t last_step_;
    std::unique_ptr<mini::optim::LRScheduler> scheduler_;  // unless --scheduler none
    std::optional<mini::io::CheckpointFolder> checkpoints_;

    Place place_;
    std::vector<float> epoch_losses_;          // of this rank, of the epoch under way
    std::vector<uint8_t> epoch_generators_;    // as they were when it began
    std::vector<uint8_t> resumed_generators_;  // what it goes on with, in its middle
    int64_t samples_trained_ = 0;              // by all ranks, in this process
    Results results_;
};

}  // namespace train_mnist
