// The data of the job, and this rank's share of each batch.

#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "libmini/data/distributed_sampler.hpp"
#include "libmini/data/loader.hpp"
#include "libmini/datasets/locate.hpp"
#include "libmini/training/options.hpp"

namespace mini::training {

/// Samples in the order of the file: of global batch k, which is samples batch_size * k
/// and on, rank r takes the r-th of world_size equal runs. A last batch that world_size
/// does not divide loses its remainder, fewer samples than there are ranks.
class FileOrderSampler : public data::Sampler {
  public:
    FileOrderSampler(int64_t dataset_size, int64_t batch_size, int rank, int world_size);
    std::vector<int64_t> indices() override { return indices_; }
    int64_t size() const override { return static_cast<int64_t>(indices_.size()); }

  private:
    std::vector<int64_t> indices_;
};

/// The datasets, with a line that says which they are.
struct JobData {
    std::string description;
    std::shared_ptr<data::Dataset> train;
    std::shared_ptr<data::Dataset> test;
};

/// Reads what was chosen; blocks, for the embedded digits while they are drawn. Throws BadFile.
JobData load_data(const data::DataChoice& choice);

/// This rank's batches of the training data, epoch by epoch.
class TrainingBatches {
  public:
    /// REQUIRES: the batch size is a multiple of the world size.
    TrainingBatches(const Options& options, const JobData& data, int rank,
                    int world_size);

    /// How many batches an epoch has; the same on all ranks.
    int64_t size() const { return loader_->size(); }

    /// Starts epoch number `epoch`, or what is left of it from batch `first` on.
    data::DataLoader::Epoch start(int64_t epoch, int64_t first);

  private:
    std::shared_ptr<data::DistributedSampler> distributed_;  // with --partition sampler
    std::unique_ptr<data::DataLoader> loader_;
};

/// This rank's part of the test data: each sample on exactly one rank.
data::DataLoader test_loader(const JobData& data, int rank, int world_size);

}  // namespace mini::training
