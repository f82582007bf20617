// DistributedSampler: all ranks permute alike, each takes every P-th index.
//
//     n = 10, P = 3, padded to 12     4 1 7 5 3 9 0 8 6 2 | 4 1
//     rank 0 takes positions 0 3 6 9: 4 . . 5 . . 0 . . 2
//     rank 1 takes positions 1 4 7 10:  1 . . 3 . . 8 . .   4
//     rank 2 takes positions 2 5 8 11:    7 . . 9 . . 6 . .   1
//
// Batch k of all ranks together is therefore a contiguous run of the permutation,
// whatever P is.

#pragma once

#include "libmini/data/sampler.hpp"

namespace mini::data {

struct DistributedSamplerOptions {
    int num_replicas = 1;
    int rank = 0;
    bool shuffle = true;
    uint64_t seed = 0;
    bool drop_last = false;
};

/// `torch.utils.data.distributed.DistributedSampler`, index for index.
class DistributedSampler : public Sampler {
  public:
    /// Throws UsageError when the rank is not in [0, num_replicas).
    DistributedSampler(int64_t dataset_size, DistributedSamplerOptions options);

    /// This rank's indices of the epoch last set; the same each time until set_epoch is
    /// called.
    std::vector<int64_t> indices() override;
    int64_t size() const override { return num_samples_; }

    /// Chooses the permutation: that of seed + epoch. Call it before each epoch.
    void set_epoch(int64_t epoch) { epoch_ = epoch; }

  private:
    int64_t dataset_size_;
    DistributedSamplerOptions options_;
    int64_t num_samples_ = 0;  // a rank
    int64_t total_size_ = 0;   // num_samples * num_replicas
    int64_t epoch_ = 0;
};

}  // namespace mini::data
