// Samplers: in which order samples are visited (`torch.utils.data.Sampler`).
//
//     SequentialSampler      0 1 2 3 4 5
//     RandomSampler          3 0 5 1 4 2      a new permutation every epoch
//       with replacement     3 3 0 5 1 3      each index drawn independently
//     SubsetRandomSampler    40 10 50 20      a permutation of the indices given
//     WeightedRandomSampler  1 1 4 1 5 1      heavy indices more often
//
// A sampler hands out the indices of one epoch as a list; the next call hands out the
// next epoch's. Orders equal PyTorch's to the last index.
//
// Random samplers draw from the generator they are given, which they share with all that
// hold it; without one, from the thread's generator_of(Stream::kDataOrder), which
// is its default generator unless streams are separated.

#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "libmini/random/random.hpp"

namespace mini::data {

class Sampler {
  public:
    virtual ~Sampler() = default;

    /// The indices of the next epoch, in order.
    virtual std::vector<int64_t> indices() = 0;

    /// How many indices an epoch has.
    virtual int64_t size() const = 0;

    /// Tells which epoch comes next, to samplers whose order depends on it.
    virtual void set_epoch(int64_t /*epoch*/) {}
};

/// 0, 1, ..., n-1 (`torch.utils.data.SequentialSampler`).
class SequentialSampler : public Sampler {
  public:
    /// Throws UsageError when dataset_size is negative.
    explicit SequentialSampler(int64_t dataset_size);
    std::vector<int64_t> indices() override;
    int64_t size() const override { return dataset_size_; }

  private:
    int64_t dataset_size_;
};

struct RandomSamplerOptions {
    bool replacement = false;
    std::optional<int64_t> num_samples = std::nullopt;  // the dataset's size, if absent
    std::shared_ptr<Generator> generator = nullptr;
};

/// Random indices of a dataset (`torch.utils.data.RandomSampler`).
///
/// Without replacement: as many whole permutations as fit into num_samples, then always
/// one more of which only the rest is used, even when that is nothing. With a generator
/// that lives on, the second epoch therefore starts after a permutation that was not
/// used.
///
/// Without a generator each epoch draws a seed (two words) and permutes with a private
/// generator of that seed, as PyTorch 1.6 and later do.
class RandomSampler : public Sampler {
  public:
    /// Throws UsageError when the dataset is empty or num_samples is below 1.
    explicit RandomSampler(int64_t dataset_size, RandomSamplerOptions options = {});
    std::vector<int64_t> indices() override;
    int64_t size() const override { return num_samples_; }

  private:
    int64_t dataset_size_;
    int64_t num_samples_;
    bool replacement_;
    std::shared_ptr<Generator> generator_;
};

/// The given indices in random order (`torch.utils.data.SubsetRandomSampler`).
class SubsetRandomSampler : public Sampler {
  public:
    explicit SubsetRandomSampler(std::vector<int64_t> indices,
                                 std::shared_ptr<Generator> generator = nullptr);
    std::vector<int64_t> indices() override;
    int64_t size() const override { return static_cast<int64_t>(indices_.size()); }

  private:
    std::vector<int64_t> indices_;
    std::shared_ptr<Generator> generator_;
};

/// Indices 0 .. weights.size()-1, each with a chance in proportion to its weight
/// (`torch.utils.data.WeightedRandomSampler`); drawn by mini::multinomial.
class WeightedRandomSampler : public Sampler {
  public:
    /// Throws UsageError when num_samples is below 1; naming the weight, when one is
    /// negative, infinite or NaN; when all are zero; and without replacement when fewer
    /// weights are positive than samples are wanted.
    WeightedRandomSampler(std::vector<double> weights, int64_t num_samples,
                          bool replacement = true,
                          std::shared_ptr<Generator> generator = nullptr);
    std::vector<int64_t> indices() override;
    int64_t size() const override { return num_samples_; }

  private:
    std::vector<double> weights_;
    int64_t num_samples_;
    bool replacement_;
    std::shared_ptr<Generator> generator_;
};

}  // namespace mini::data
