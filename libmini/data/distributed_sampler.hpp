// DistributedSampler: all P ranks draw the same permutation, and each rank takes every
// P-th index.
//
//     n = 10, P = 3, padded to 12     4 1 7 5 3 9 0 8 6 2 | 4 1
//     rank 0 takes positions 0 3 6 9: 4 . . 5 . . 0 . . 2
//     rank 1 takes positions 1 4 7 10:  1 . . 3 . . 8 . .   4
//     rank 2 takes positions 2 5 8 11:    7 . . 9 . . 6 . .   1
//
// The k-th batches of all ranks together are a contiguous run of the permutation, for any
// P. All ranks get the same number of samples, ceil(n / P), and so take part in the same
// number of collectives: if P does not divide n, the first samples are repeated. With
// drop_last, the last n mod P samples are left out instead.
//
// Costs n words of random numbers and at most 8 n bytes of memory. For P > 1 these are 4
// bytes per entry of the permutation (randperm_u32), and 8 bytes per index of this rank;
// for P = 1 the permutation itself (randperm) is the result, without a second list.

#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "libmini/core/world.hpp"
#include "libmini/data/dataset.hpp"
#include "libmini/data/sampler.hpp"
#include "libmini/random/random.hpp"

namespace mini::data {

/// Returns the generator for an epoch's permutation, the same on all ranks: a generator
/// seeded with seed + epoch. Does not change default_generator().
Generator epoch_generator(uint64_t seed, int64_t epoch);

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
    /// Throws UsageError when dataset_size is negative, or when choose_replica (replica.hpp)
    /// throws for the given num_replicas and rank.
    explicit DistributedSampler(int64_t dataset_size,
                                DistributedSamplerOptions options = {});
    explicit DistributedSampler(const Dataset& dataset,
                                DistributedSamplerOptions options = {})
        : DistributedSampler(dataset.size(), options) {}

    /// Returns this rank's indices of the current epoch. The epoch is 0 until set_epoch
    /// is called; calls in the same epoch return the same indices. With shuffle, rank r
    /// takes positions r, r + P, ... of randperm(dataset_size, epoch_generator(seed,
    /// epoch)); without shuffle, of 0 .. dataset_size-1. Positions beyond the end of this
    /// list continue at its start. With shuffle, the second call in the same epoch logs a
    /// warning that names the epoch, once per sampler.
    std::vector<int64_t> indices() override;
    int64_t size() const override { return num_samples_; }

    /// Selects the permutation of seed + epoch, and marks the epoch as unused, so that
    /// the next indices() logs no warning. Call set_epoch before each epoch.
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
