// DistributedEvalSampler: assigns each sample to exactly one rank, for exact evaluation.
//
//     n = 10, P = 3     rank 0   0 3 6 9
//                       rank 1   1 4 7
//                       rank 2   2 5 8
//
// DistributedSampler repeats samples, so that all ranks have the same number. An accuracy
// over its samples is wrong: in this example, samples 0 and 1 would count twice.
// DistributedEvalSampler repeats no sample.
//
// So ranks may have different numbers of samples and of batches: a collective in every
// batch would wait for a rank that has no batch left. Instead, count the samples and the
// correct predictions on each rank, and all-reduce the two counts once at the end.

#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "libmini/core/world.hpp"
#include "libmini/data/dataset.hpp"
#include "libmini/data/sampler.hpp"

namespace mini::data {

struct DistributedEvalSamplerOptions {
    std::optional<int> num_replicas = std::nullopt;  // if absent: current_world()->size
    std::optional<int> rank = std::nullopt;          // if absent: current_world()->rank
};

/// Gives rank r the samples r, r + num_replicas, r + 2 num_replicas, ... below the
/// dataset's size. The order is the same in every epoch.
class DistributedEvalSampler : public Sampler {
  public:
    /// Throws UsageError when dataset_size is negative, or when choose_replica
    /// (replica.hpp) throws for the given num_replicas and rank.
    explicit DistributedEvalSampler(int64_t dataset_size,
                                    DistributedEvalSamplerOptions options = {});
    explicit DistributedEvalSampler(const Dataset& dataset,
                                    DistributedEvalSamplerOptions options = {})
        : DistributedEvalSampler(dataset.size(), options) {}

    std::vector<int64_t> indices() override;

    /// Returns this rank's number of samples. Any two ranks differ by at most 1 sample.
    int64_t size() const override { return num_samples_; }

  private:
    World replica_;
    int64_t num_samples_ = 0;
};

}  // namespace mini::data
