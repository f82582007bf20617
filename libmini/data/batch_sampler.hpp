// Batch samplers: which samples go into which batch.
//
//     the sampler's order                    4 1 7 5 3 9 0 8 6 2
//     BatchSampler, batch_size 4             4 1 7 5 | 3 9 0 8 | 6 2
//     IterationBasedBatchSampler, 5 batches  4 1 7 5 | 3 9 0 8 | 6 2 | 5 6 1 2 | 0 8 9 3
//
// See also GroupedBatchSampler, whose batches hold samples of one group each.

#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "libmini/data/sampler.hpp"

namespace mini::data {

/// What a DataLoader asks for an epoch's batches (a `Sampler[list[int]]`).
class BatchSource {
  public:
    virtual ~BatchSource() = default;

    /// The batches of the next epoch, in order.
    virtual std::vector<std::vector<int64_t>> batches() = 0;

    /// How many batches that is.
    virtual int64_t size() = 0;

    /// Passes the epoch on to the sampler below, if it cares.
    virtual void set_epoch(int64_t epoch) = 0;
};

/// Cuts another sampler's indices into batches (`torch.utils.data.BatchSampler`).
class BatchSampler : public BatchSource {
  public:
    /// Throws UsageError unless batch_size is positive.
    BatchSampler(std::shared_ptr<Sampler> sampler, int64_t batch_size,
                 bool drop_last = false);

    /// The last batch may be smaller than the others, unless drop_last.
    std::vector<std::vector<int64_t>> batches() override;
    int64_t size() override;
    void set_epoch(int64_t epoch) override { sampler_->set_epoch(epoch); }

  private:
    std::shared_ptr<Sampler> sampler_;
    int64_t batch_size_;
    bool drop_last_;
};

/// Training counted in iterations rather than epochs: goes over another batch source as
/// often as it takes (maskrcnn-benchmark's `IterationBasedBatchSampler`).
///
/// Iterations are numbered start_iter .. num_iterations-1, one batch each; a training
/// that was interrupted goes on with the start_iter it had reached. Before each pass the
/// source is told the number of the iteration that comes next, by set_epoch: ranks that
/// share a DistributedSampler's order then agree on it after a restart as well.
class IterationBasedBatchSampler : public BatchSource {
  public:
    /// Throws UsageError unless 0 <= start_iter <= num_iterations.
    IterationBasedBatchSampler(std::shared_ptr<BatchSource> source,
                               int64_t num_iterations, int64_t start_iter = 0);

    /// num_iterations - start_iter batches. Throws UsageError when a pass over the source
    /// gives none.
    std::vector<std::vector<int64_t>> batches() override;

    /// num_iterations, as there, though batches() gives start_iter fewer.
    int64_t size() override { return num_iterations_; }

    /// Does nothing: the iterations take the epochs' place.
    void set_epoch(int64_t /*epoch*/) override {}

  private:
    std::shared_ptr<BatchSource> source_;
    int64_t num_iterations_;
    int64_t start_iter_;
};

}  // namespace mini::data
