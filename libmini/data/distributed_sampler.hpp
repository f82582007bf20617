// DistributedSampler: all P ranks draw the same permutation; each takes every P-th index.
//
//     n = 10, P = 3, padded to 12     4 1 7 5 3 9 0 8 6 2 | 4 1
//     rank 0 takes positions 0 3 6 9: 4 . . 5 . . 0 . . 2
//     rank 1 takes positions 1 4 7 10:  1 . . 3 . . 8 . .   4
//     rank 2 takes positions 2 5 8 11:    7 . . 9 . . 6 . .   1
//
// Batch k of all ranks together is therefore a contiguous run of the permutation, for
// any P. All ranks get the same number of samples, ceil(n / P), so that all ranks take
// part in the same number of collectives: if P does not divide n, the first samples of
// the permutation are repeated. With drop_last, its last n mod P are left out instead.
//
// Costs n words of random numbers and at most 8 n bytes of memory: the permutation is
// kept in 32 bits, next to this rank's indices in 64.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "libmini/core/world.hpp"
#include "libmini/data/dataset.hpp"
#include "libmini/data/sampler.hpp"
#include "libmini/random/random.hpp"

namespace mini::data {

/// Returns the rank and the number of replicas for a sampler; std::nullopt means the
/// value of current_world(). Throws UsageError that begins with `who` when a value is
/// missing and the thread has no world, when num_replicas is below 1, or when rank is not
/// in [0, num_replicas).
World choose_replica(const std::string& who, std::optional<int> num_replicas,
                     std::optional<int> rank);

/// Returns the generator for an epoch's permutation, the same on all ranks: seeded with
/// seed + epoch, and of the same version() of PyTorch as default_generator(), given to it
/// by set_version(), since versions permute differently. The default generator's state
/// does not change.
Generator epoch_generator(uint64_t seed, int64_t epoch);

struct DistributedSamplerOptions {
    std::optional<int> num_replicas = std::nullopt;  // current_world()'s, if absent
    std::optional<int> rank = std::nullopt;          // current_world()'s, if absent
    bool shuffle = true;
    uint64_t seed = 0;
    bool drop_last = false;
};

/// `torch.utils.data.distributed.DistributedSampler`, index for index.
class DistributedSampler : public Sampler {
  public:
    /// Throws UsageError when dataset_size is negative, or for a replica that
    /// choose_replica rejects.
    explicit DistributedSampler(int64_t dataset_size,
                                DistributedSamplerOptions options = {});
    explicit DistributedSampler(const Dataset& dataset,
                                DistributedSamplerOptions options = {});

    /// Returns this rank's indices of the current epoch, initially 0; the same indices
    /// until set_epoch is called. With shuffle, rank r takes positions r, r + P, ... of
    /// randperm(dataset_size, epoch_generator(seed, epoch)), continuing at its start. If
    /// set_epoch is not called between two calls while shuffle is on, a warning that
    /// names the epoch is logged, once per sampler.
    std::vector<int64_t> indices() override;
    int64_t size() const override { return num_samples_; }

    /// Selects the permutation of seed + epoch, and notes that indices() has not used it
    /// yet, so that no warning comes. Call it before each epoch.
    void set_epoch(int64_t epoch) override;

  private:
    void warn_of_forgotten_epoch();

    int64_t dataset_size_;
    DistributedSamplerOptions options_;
    World replica_;
    int64_t num_samples_ = 0;  // per rank
    int64_t epoch_ = 0;
    bool epoch_used_ = false;  // whether indices() has used epoch_ since it was set
    bool warned_ = false;
};

}  // namespace mini::data
