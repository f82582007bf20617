// GroupedBatchSampler: batches of one group each, such as wide images and high ones.
//
//     order    0  1  2  3  4  5  6        batch_size 2
//     group    w  h  h  w  h  w  w
//     batches  0 3 | 1 2 | 4 | 5 6        in the order of their first elements
//
// An image is padded to the largest of its batch, so batches of similar shapes waste
// less. The order of the sampler is kept as far as that allows.

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
    /// group_ids[i] is the group of sample i, any numbers. The last batch of a group may
    /// be smaller than batch_size; with drop_uneven such batches are left out. Throws
    /// UsageError unless batch_size is positive.
    GroupedBatchSampler(std::shared_ptr<Sampler> sampler, std::vector<int64_t> group_ids,
                        int64_t batch_size, bool drop_uneven = false);

    /// Each group's samples in the sampler's order, cut into batches; the batches in the
    /// order in which the sampler names their first elements. An index that the sampler
    /// repeats is repeated. Throws UsageError naming an index that has no group.
    std::vector<std::vector<int64_t>> batches() override;

    /// How many batches come next. Only the batches themselves tell, so this prepares
    /// them, and the next batches() hands out exactly those, unless set_epoch intervenes:
    /// call set_epoch first.
    int64_t size() override;

    /// Tells the sampler, and drops batches that size() has prepared.
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
