// GroupedBatchSampler: batches whose samples all belong to one group, such as wide images
// or high images.
//
//     order    0  1  2  3  4  5  6        batch_size 2
//     group    w  h  h  w  h  w  w
//     batches  0 3 | 1 2 | 4 | 5 6        in the order of their first elements
//
// A training program pads all images of a batch to the size of the largest, so batches of
// similar shapes waste less memory and time. Each group keeps the sampler's order.

#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "libmini/data/batch_sampler.hpp"

namespace mini::data {

/// Batches whose samples share a group id (maskrcnn-benchmark's `GroupedBatchSampler`).
class GroupedBatchSampler : public BatchSource {
  public:
    /// group_ids[i] is the group of sample i, any integer. The last batch of a group may
    /// be smaller than batch_size; with drop_uneven, smaller batches are left out. Throws
    /// UsageError if `sampler` is null or batch_size is not positive.
    GroupedBatchSampler(std::shared_ptr<Sampler> sampler, std::vector<int64_t> group_ids,
                        int64_t batch_size, bool drop_uneven = false);

    /// Returns each group's samples, in the sampler's order, split into batches. The
    /// batches are ordered by the position of their first element in the sampler's order.
    /// If the sampler returns an index twice, the batches contain this index twice.
    /// Throws UsageError naming an index that has no group.
    std::vector<std::vector<int64_t>> batches() override;

    /// Returns the number of batches of the next epoch. Prepares these batches in order
    /// to count them; the next batches() returns the prepared batches, unless set_epoch
    /// is called in between. So call set_epoch before size().
    int64_t size() override;

    /// Forwards the epoch to the sampler, and discards the batches that size() prepared.
    void set_epoch(int64_t epoch) override;

  private:
    std::vector<std::vector<int64_t>> prepare();
    int64_t group_of(int64_t index) const;

    std::shared_ptr<Sampler> sampler_;
    std::vector<int64_t> group_ids_;
    int64_t batch_size_;
    bool drop_uneven_;
    std::optional<std::vector<std::vector<int64_t>>> prepared_;
};

}  // namespace mini::data
