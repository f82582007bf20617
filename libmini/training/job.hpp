// The datasets of the job, and this rank's part of each batch.

#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "libmini/data/distributed_sampler.hpp"
#include "libmini/data/loader.hpp"
#include "libmini/data/partition.hpp"
#include "libmini/datasets/locate.hpp"
#include "libmini/training/options.hpp"

namespace mini::training {

/// Gives a rank its samples in file order. Global batch k starts at sample batch_size *
/// k. Each global batch is divided into world_size equal contiguous parts; rank r gets
/// part r. If world_size does not divide the size of the last batch, the last samples of
/// this batch (fewer than world_size) are dropped.
class FileOrderSampler : public data::Sampler {
  public:
    FileOrderSampler(int64_t dataset_size, int64_t batch_size, int rank, int world_size);
    std::vector<int64_t> indices() override { return indices_; }
    int64_t size() const override { return static_cast<int64_t>(indices_.size()); }

  private:
    std::vector<int64_t> indices_;
};

/// The datasets, and one line of text that describes them.
struct JobData {
    std::string description;
    std::shared_ptr<data::Dataset> train;
    std::shared_ptr<data::Dataset> test;
};

/// Loads the training and test data of `choice`. Blocks until the files are read; the
/// embedded digits are drawn when they are used. Throws BadFile.
JobData load_data(const data::DataChoice& choice);

/// Provides this rank's batches of the training data, epoch by epoch. The batches are in
/// CPU memory: pinned if the rank trains on a GPU, so that the copy to the GPU does not
/// block.
class TrainingBatches {
  public:
    /// `device` is the device on which the rank trains. REQUIRES: the batch size is a
    /// multiple of the world size.
    TrainingBatches(const Options& options, const JobData& data, int rank, int world_size,
                    Device device);

    /// Returns the number of batches in an epoch, which is equal on all ranks.
    int64_t size() const { return loader_->size(); }

    /// Returns the batches of epoch `epoch`, from batch `first` on; both count from 0.
    data::DataLoader::Epoch start(int64_t epoch, int64_t first);

  private:
    std::shared_ptr<data::DistributedSampler> distributed_;  // with --partition sampler
    std::shared_ptr<data::Partition> partition_;             // with --partition tutorial
    std::unique_ptr<data::DataLoader> loader_;
};

/// Returns a loader of this rank's part of the test data. Each sample is in the part of
/// exactly one rank.
data::DataLoader test_loader(const JobData& data, int rank, int world_size);

}  // namespace mini::training
