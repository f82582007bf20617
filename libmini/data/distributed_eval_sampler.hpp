// DistributedEvalSampler: assigns each sample to exactly one rank, for exact evaluation.
//
//     n = 10, P = 3     rank 0   0 3 6 9
//                       rank 1   1 4 7
//                       rank 2   2 5 8
//
// DistributedSampler gives all ranks equally many samples by repeating some, which makes
// an accuracy wrong: in this example it would count samples 0 and 1 twice. This sampler
// repeats no sample.
//
// Ranks may therefore have different numbers of samples and of batches: a collective in
// every batch would wait forever for a rank that has no batch left. Count correct and
// seen samples locally on each rank, then all-reduce the two counts once at the end.

#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "libmini/data/dataset.hpp"
#include "libmini/data/sampler.hpp"

namespace mini::data {

struct DistributedEvalSamplerOptions {
    std::optional<int> num_replicas = std::nullopt;  // current_world()'s, if absent
    std::optional<int> rank = std::nullopt;          // current_world()'s, if absent
};

/// Rank r has the samples r, r + num_replicas, r + 2 num_replicas, ... below the
/// dataset's size. The order is the same in every epoch.
class DistributedEvalSampler : public Sampler {
  public:
    /// Throws UsageError when dataset_size is negative, or for a replica that
    /// choose_replica rejects.
    explicit DistributedEvalSampler(int64_t dataset_size,
                                    DistributedEvalSamplerOptions options = {});
    explicit DistributedEvalSampler(const Dataset& dataset,
                                    DistributedEvalSamplerOptions options = {});

    std::vector<int64_t> indices() override;

    /// Returns this rank's number of samples; it differs by at most 1 between ranks.
    int64_t size() const override { return num_samples_; }

  private:
    int64_t num_replicas_;
    int64_t rank_;
    int64_t num_samples_;
};

}  // namespace mini::data
