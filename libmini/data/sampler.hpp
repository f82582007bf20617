// Samplers: in which order samples are visited (`torch.utils.data.Sampler`).
//
// A sampler hands out the indices of one epoch as a list; the next call hands out the
// next epoch's. Orders equal PyTorch's to the last index.

#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "libmini/core/random.hpp"

namespace mini::data {

class Sampler {
  public:
    virtual ~Sampler() = default;

    /// The indices of the next epoch, in order.
    virtual std::vector<int64_t> indices() = 0;

    /// How many indices an epoch has.
    virtual int64_t size() const = 0;
};

/// 0, 1, ..., n-1 (`torch.utils.data.SequentialSampler`).
class SequentialSampler : public Sampler {
  public:
    explicit SequentialSampler(int64_t dataset_size);
    std::vector<int64_t> indices() override;
    int64_t size() const override;

  private:
    int64_t dataset_size_;
};

/// A new permutation every epoch (`torch.utils.data.RandomSampler` without replacement).
/// Each epoch draws a seed from the default generator of the calling thread and permutes
/// with a private one, as PyTorch 1.6 and later do.
class RandomSampler : public Sampler {
  public:
    explicit RandomSampler(int64_t dataset_size);
    std::vector<int64_t> indices() override;
    int64_t size() const override;

  private:
    int64_t dataset_size_;
};

/// Groups another sampler's indices into batches (`torch.utils.data.BatchSampler`).
class BatchSampler {
  public:
    /// Throws UsageError unless batch_size is positive.
    BatchSampler(std::shared_ptr<Sampler> sampler, int64_t batch_size,
                 bool drop_last = false);

    /// The batches of the next epoch; the last one may be smaller unless drop_last.
    std::vector<std::vector<int64_t>> batches();

    /// How many batches an epoch has.
    int64_t size() const;

  private:
    std::shared_ptr<Sampler> sampler_;
    int64_t batch_size_;
    bool drop_last_;
};

}  // namespace mini::data
