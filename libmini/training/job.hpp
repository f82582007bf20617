// The datasets of the job, and this rank's part of each batch.

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

/// Samples in file order. Global batch k starts at sample batch_size * k; it is divided
/// into world_size equal contiguous parts, and rank r takes part r. If world_size does
/// not divide the last batch, its last samples, fewer than world_size, are dropped.
class FileOrderSampler : public data::Sampler {
  public:
    FileOrderSampler(int64_t dataset_size, int64_t batch_size, int rank, int world_size);
    std::vector<int64_t> indices() override { return indices_; }
    int64_t size() const override { return static_cast<int64_t>(indices_.size()); }

  private:
    std::vector<int64_t> indices_;
};

/// The datasets, with a line that describes them.
struct JobData {
    std::string description;
    std::shared_ptr<data::Dataset> train;
    std::shared_ptr<data::Dataset> test;
};

/// Loads the chosen datasets; blocks, for the embedded digits until they are drawn.
/// Throws BadFile.
JobData load_data(const data::DataChoice& choice);

/// This rank's batches of the training data, epoch by epoch.
class TrainingBatches {
  public:
    /// REQUIRES: the batch size is a multiple of the world size.
    TrainingBatches(const Options& options, const JobData& data, int rank,
                    int world_size);

    /// The number of batches in an epoch; the same on all ranks.
    int64_t size() const { return loader_->size(); }

    /// Starts epoch number `epoch` at batch number `first`.
    data::DataLoader::Epoch start(int64_t epoch, int64_t first);

  private:
    std::shared_ptr<data::DistributedSampler> distributed_;  // with --partition sampler
    std::unique_ptr<data::DataLoader> loader_;
};

/// A loader of this rank's part of the test data; each sample is on exactly one rank.
data::DataLoader test_loader(const JobData& data, int rank, int world_size);

}  // namespace mini::training
