// DistributedSampler: all P ranks draw the same permutation, and each rank takes every
// P-th index.
//
//     n = 10, P = 3, padded to 12     4 1 7 5 3 9 0 8 6 2 | 4 1
//     rank 0 takes places 0 3 6 9:    4 . . 5 . . 0 . . 2
//     rank 1 takes places 1 4 7 10:     1 . . 3 . . 8 . .   4
//     rank 2 takes places 2 5 8 11:       7 . . 9 . . 6 . .   1
//
// The k-th batches of all ranks together are a contiguous run of the padded permutation, the
// same for any P if P times the batch size is the same. All ranks get the same number of
// samples, ceil(n / P), and so take part in the same number of collectives: if P does not
// divide n, the first samples are repeated. With drop_last, the last n mod P are left out.
//
// Costs 8 bytes of memory for each index of this rank and, with shuffle, at most 2n random
// numbers and 4 bytes for each entry of the permutation (randperm_u32).

#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "libmini/core/world.hpp"
#include "libmini/data/dataset.hpp"
#include "libmini/data/sampler.hpp"

namespace mini::data {

struct DistributedSamplerOptions {
    std::optional<int> num_replicas = std::nullopt;  // if absent: current_world()->size
    std::optional<int> rank = std::nullopt;          // if absent: current_world()->rank
    bool shuffle = true;
    uint64_t seed = 0;
    bool drop_last = false;
};

/// Returns the same indices as `torch.utils.data.distributed.DistributedSampler`.
class DistributedSampler : public Sampler {
  public:
    /// Throws UsageError when dataset_size is negative, or when choose_replica
    /// (replica.hpp) throws for the given num_replicas and rank.
    explicit DistributedSampler(int64_t dataset_size,
                                DistributedSamplerOptions options = {});
    explicit DistributedSampler(const Dataset& dataset,
                                DistributedSamplerOptions options = {})
        : DistributedSampler(dataset.size(), options) {}

    /// Returns this rank's size() indices: the places r, r + P, r + 2P, ... of the epoch's
    /// list, for rank r of P. Places beyond the end of the list continue at its start, as
    /// often as necessary. Without shuffle the list is 0 .. dataset_size-1. With shuffle
    /// it is a permutation of these that depends on seed and epoch only: randperm_u32 by a
    /// Generator whose seed is seed + epoch. Does not use default_generator().
    ///
    /// Calls in the same epoch return the same indices. With shuffle, the second call
    /// since set_epoch (or since the start) logs a warning that names the epoch and
    /// set_epoch. A sampler logs at most one warning.
    std::vector<int64_t> indices() override;

    /// Returns dataset_size / P, rounded up; rounded down with drop_last.
    int64_t size() const override { return num_samples_; }

    /// Chooses the epoch, which is 0 at first. Call set_epoch before each epoch.
    void set_epoch(int64_t epoch) override;

  private:
    int64_t dataset_size_;
    DistributedSamplerOptions options_;
    World replica_;
    int64_t num_samples_ = 0;  // per rank
    int64_t epoch_ = 0;
    bool epoch_used_ = false;  // whether indices() has used epoch_ since it was set
    bool warned_ = false;
};

}  // namespace mini::data
