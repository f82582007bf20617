// Batch samplers: which samples go into which batch.
//
//     the sampler's order                    4 1 7 5 3 9 0 8 6 2
//     BatchSampler, batch_size 4             4 1 7 5 | 3 9 0 8 | 6 2
//     IterationBasedBatchSampler, 5 batches  4 1 7 5 | 3 9 0 8 | 6 2 | 5 6 1 2 | 0 8 9 3
//
// See also GroupedBatchSampler: all samples of a batch belong to the same group.

#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "libmini/data/sampler.hpp"

namespace mini::data {

/// The interface of batch samplers, from which a DataLoader gets the batches of an epoch
/// (`Sampler[list[int]]`).
class BatchSource {
  public:
    virtual ~BatchSource() = default;

    /// Returns the batches of the next epoch, in order.
    virtual std::vector<std::vector<int64_t>> batches() = 0;

    /// Returns the number of batches of the next epoch.
    virtual int64_t size() = 0;

    /// Forwards the number of the next epoch to the wrapped sampler, if the order depends
    /// on this number.
    virtual void set_epoch(int64_t epoch) = 0;
};

/// Groups another sampler's indices into batches (`torch.utils.data.BatchSampler`).
class BatchSampler : public BatchSource {
  public:
    /// Throws UsageError if `sampler` is null or batch_size is not positive.
    BatchSampler(std::shared_ptr<Sampler> sampler, int64_t batch_size,
                 bool drop_last = false);

    /// Returns the sampler's indices, split into batches of batch_size. The last batch
    /// may be smaller; with drop_last, a smaller last batch is left out.
    std::vector<std::vector<int64_t>> batches() override;

    /// Returns the number of batches; asks the sampler for its size, not for its indices.
    int64_t size() override;
    void set_epoch(int64_t epoch) override { sampler_->set_epoch(epoch); }

  private:
    std::shared_ptr<Sampler> sampler_;
    int64_t batch_size_;
    bool drop_last_;
};

/// Counts training in iterations instead of epochs: repeats another batch source until
/// there are enough batches (maskrcnn-benchmark's `IterationBasedBatchSampler`).
///
/// Iterations are numbered start_iter .. num_iterations-1, with one batch each. To resume
/// an interrupted training, set start_iter to the first iteration that is missing. One
/// pass reads all batches of the source; unneeded batches of the last pass are dropped.
/// Before each pass, the source's set_epoch is called with the number of the next
/// iteration; so the ranks of a DistributedSampler agree on the order after a restart.
class IterationBasedBatchSampler : public BatchSource {
  public:
    /// Throws UsageError if `source` is null, or unless 0 <= start_iter <= num_iterations.
    IterationBasedBatchSampler(std::shared_ptr<BatchSource> source,
                               int64_t num_iterations, int64_t start_iter = 0);

    /// Returns num_iterations - start_iter batches. Throws UsageError, which names the
    /// next iteration, when a pass over the source returns no batch.
    std::vector<std::vector<int64_t>> batches() override;

    /// Returns num_iterations, as maskrcnn-benchmark does, although batches() returns
    /// only num_iterations - start_iter batches.
    int64_t size() override { return num_iterations_; }

    /// Does nothing: iterations replace epochs.
    void set_epoch(int64_t /*epoch*/) override {}

  private:
    std::shared_ptr<BatchSource> source_;
    int64_t num_iterations_;
    int64_t start_iter_;
};

}  // namespace mini::data
