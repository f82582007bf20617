// Samplers: the order in which samples are visited (`torch.utils.data.Sampler`).
//
//     SequentialSampler      0 1 2 3 4 5
//     RandomSampler          3 0 5 1 4 2      a new permutation every epoch
//       with replacement     3 3 0 5 1 3      each index drawn independently
//     SubsetRandomSampler    40 10 50 20      a permutation of the given indices
//     WeightedRandomSampler  1 1 4 1 5 1      indices of larger weight more often
//
// A sampler returns the indices of one epoch as a list; the next call returns the indices
// of the next epoch. For the same state of the generator, the indices equal PyTorch's.
//
// A random sampler draws from the generator passed to its constructor. If this generator
// is null, the sampler uses the calling thread's default_generator().

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

    /// Returns the indices of an epoch, in order; which epoch, the class says.
    virtual std::vector<int64_t> indices() = 0;

    /// Returns the number of indices per epoch.
    virtual int64_t size() const = 0;

    /// Sets the number of the next epoch. Does nothing if the sampler's order does not
    /// depend on this number.
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
/// Without replacement, an epoch has as many whole permutations as fit into num_samples,
/// followed by the beginning of one more. As in PyTorch, this last permutation is drawn
/// even if the epoch uses none of its indices. With a shared generator, the second epoch
/// therefore starts after an unused permutation.
///
/// Without a generator, each epoch draws a seed (two words), and then draws its indices
/// from a private generator with this seed, as PyTorch 1.6 and later do.
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
///
/// Each epoch draws a permutation p of the positions 0 .. size()-1; its i-th index is
/// indices[p[i]]. The given list does not change.
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

/// Indices 0 .. weights.size()-1, each with a probability proportional to its weight
/// (`torch.utils.data.WeightedRandomSampler`); drawn by mini::multinomial.
class WeightedRandomSampler : public Sampler {
  public:
    /// Throws UsageError when num_samples is below 1; when a weight is negative, infinite
    /// or NaN (the error names the weight); when all weights are zero or their sum is
    /// infinite; or, without replacement, when num_samples exceeds the positive weights.
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
