// DistributedSampler: all ranks permute alike, each takes every P-th index.
//
//     n = 10, P = 3, padded to 12     4 1 7 5 3 9 0 8 6 2 | 4 1
//     rank 0 takes positions 0 3 6 9: 4 . . 5 . . 0 . . 2
//     rank 1 takes positions 1 4 7 10:  1 . . 3 . . 8 . .   4
//     rank 2 takes positions 2 5 8 11:    7 . . 9 . . 6 . .   1
//
// Batch k of all ranks together is therefore a contiguous run of the permutation,
// whatever P is. All ranks get the same number of samples, ceil(n / P), so that all take
// part in the same number of collectives: where P does not divide n, the first few of the
// permutation are given out again. With drop_last its last n mod P are left out instead.
//
// Costs n words of random numbers and at most 8 n bytes at a time: the permutation is
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

/// Which replica a sampler serves, of how many: what is given, and where nothing is
/// given, what current_world() says. Throws UsageError that begins with `who` when there
/// is no world to ask, num_replicas is below 1, or rank is not in [0, num_replicas).
World choose_replica(const std::string& who, std::optional<int> num_replicas,
                     std::optional<int> rank);

/// The generator that an epoch's permutation is drawn from, alike on all ranks: seeded
/// with seed + epoch, of the version of PyTorch that default_generator() follows, since
/// versions permute differently. The default generator draws nothing and keeps its seed.
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
    /// Throws UsageError when dataset_size is negative, and as choose_replica does.
    explicit DistributedSampler(int64_t dataset_size,
                                DistributedSamplerOptions options = {});
    explicit DistributedSampler(const Dataset& dataset,
                                DistributedSamplerOptions options = {});

    /// This rank's indices of the epoch last set, 0 at first; the same each time until
    /// set_epoch is called. Shuffled, rank r takes positions r, r + P, ... of
    /// randperm(dataset_size, epoch_generator(seed, epoch)), going round its end. When
    /// set_epoch is forgotten between two calls, and the order is shuffled, one warning
    /// is logged in the sampler's life; it names the epoch.
    std::vector<int64_t> indices() override;
    int64_t size() const override { return num_samples_; }

    /// Chooses the permutation: that of seed + epoch. Call it before each epoch.
    void set_epoch(int64_t epoch) override;

  private:
    void warn_of_forgotten_epoch();

    int64_t dataset_size_;
    DistributedSamplerOptions options_;
    World replica_;
    int64_t num_samples_ = 0;  // a rank
    int64_t epoch_ = 0;
    bool epoch_used_ = false;  // by indices(), since it was set
    bool warned_ = false;
};

}  // namespace mini::data
