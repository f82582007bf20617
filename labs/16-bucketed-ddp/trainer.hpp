// The training loop of one rank.

#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "job.hpp"
#include "libmini/dist/process_group.hpp"
#include "libmini/nn/models.hpp"
#include "libmini/optim/sgd.hpp"
#include "libmini/parallel/ddp.hpp"
#include "options.hpp"

namespace train_mnist {

/// What a job has to show. Lists have one entry an epoch unless they say otherwise.
struct Results {
    std::vector<double> train_loss;
    std::vector<double> step_loss;  // of the first 1,000 steps, the mean over ranks
    std::vector<double> test_accuracy;
    std::vector<double> seconds_per_epoch;
    double samples_per_second = 0.0;
    std::vector<std::string> parameters_sha256;  // one a rank
    std::vector<int64_t> bucket_bytes;           // of DDP
    double hidden_communication =
        0.0;  // share of DDP's all-reduce time spent during backward
};

class Trainer {
  public:
    /// Builds the model, alike on all ranks; blocks until they agree on it.
    Trainer(const Options& options, JobData data,
            std::shared_ptr<mini::dist::ProcessGroup> group);

    /// Trains as long as the options say and returns what came of it, on every rank the
    /// same. After each epoch calls `report` with the results so far.
    Results run(const std::function<void(const Results&)>& report);

    const mini::nn::Module& model() const { return model_; }
    int64_t samples_trained() const { return samples_trained_; }

  private:
    void train_epoch(int64_t epoch);
    double step(const mini::data::Batch& batch);
    double evaluate();
    void gather_losses(std::vector<double> losses);
    std::vector<std::string> parameter_digests() const;

    Options options_;
    JobData data_;
    std::shared_ptr<mini::dist::ProcessGroup> group_;
    TrainingBatches batches_;
    mini::nn::ConvNet model_;
    std::unique_ptr<mini::parallel::DistributedDataParallel> ddp_;  // with --sync ddp
    mini::optim::SGD optimizer_;
    int64_t epochs_;
    int64_t steps_left_;
    int64_t samples_trained_ = 0;  // by all ranks
    Results results_;
};

}  // namespace train_mnist
