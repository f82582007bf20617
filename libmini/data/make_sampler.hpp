// make_data_sampler and make_batch_data_sampler: create the samplers of a training from
// a few configuration options (maskrcnn-benchmark's `data/build.py`).
//
//     make_data_sampler        distributed?  DistributedSampler
//                              shuffle?      RandomSampler        else SequentialSampler
//     make_batch_data_sampler  aspects?      GroupedBatchSampler  else BatchSampler
//                              num_iters?    IterationBasedBatchSampler around it

#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "libmini/data/batch_sampler.hpp"
#include "libmini/data/dataset.hpp"

namespace mini::data {

/// Returns a sampler for the dataset; if `distributed`, a DistributedSampler for the
/// calling thread's rank. Throws UsageError if `distributed` is set before
/// init_process_group, or if a RandomSampler is chosen for an empty dataset.
std::shared_ptr<Sampler> make_data_sampler(const Dataset& dataset, bool shuffle,
                                           bool distributed);

struct BatchDataSamplerOptions {
    /// The borders between groups of aspect ratios, height / width: {1} separates wide
    /// images from the rest. A ratio equal to a border belongs to the group above it. Empty:
    /// no grouping.
    std::vector<double> aspect_grouping = {};
    int64_t images_per_gpu = 1;                       // the batch size per rank
    std::optional<int64_t> num_iters = std::nullopt;  // absent: one epoch
    int64_t start_iter = 0;
};

/// Returns a batch sampler that splits the order of `sampler` into batches. Throws
/// UsageError when an option is out of range. With grouping, reads each sample once; throws
/// UsageError when a border is not finite, ShapeError naming a sample that is not an image
/// (..., H, W).
std::shared_ptr<BatchSource> make_batch_data_sampler(
    const Dataset& dataset, std::shared_ptr<Sampler> sampler,
    const BatchDataSamplerOptions& options);

}  // namespace mini::data
